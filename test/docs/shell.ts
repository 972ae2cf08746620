// Reads shell scripts as far as documentation needs it: which commands a script runs, with which words and variables.
import { spawnSync } from 'node:child_process';

export type Command = {
  /** Variables that are set for this command, or by it. */
  variables: Readonly<Record<string, string>>;
  /** Without quotes and redirections. */
  words: readonly string[];
};

export type Script = { commands: readonly Command[]; functions: readonly string[] };

/** Words that stand for something of the reader: `<context, job or worker>`. */
const PLACEHOLDER = /<[a-zA-Z][\w ,.|-]*>/g;

export const hasPlaceholder = (script: string): boolean => script.search(PLACEHOLDER) !== -1;

const filled = (script: string): string => script.replaceAll(PLACEHOLDER, 'placeholder');

/** What bash says against it; null: it can be parsed. */
export function syntaxFault(script: string): string | null {
  const { status, stderr } = spawnSync('bash', ['-n'], { input: filled(script), encoding: 'utf8' });
  return status === 0 && stderr === '' ? null : stderr.trim();
}

/** Splits a script where a command ends with its line. Comments before a command stay with it. */
export function statementsOf(script: string): string[] {
  const statements: string[] = [];
  let open = '';
  for (const line of script.trimEnd().split('\n')) {
    open += `${line}\n`;
    if (/^\s*#/.test(line) || line.trim() === '' || line.endsWith('\\') || syntaxFault(open) !== null) continue;
    statements.push(open);
    open = '';
  }
  return open.trim() === '' ? statements : [...statements, open];
}

/** What a terminal shows: commands behind `$ `, each with what it wrote. */
export function transcriptOf(text: string): { command: string; output: string }[] {
  const [, ...parts] = `\n${text}`.split('\n$ ');
  return parts.map((part) => {
    const [command = ''] = statementsOf(part);
    return { command, output: part.slice(command.length) };
  });
}

const ASSIGNMENT = /^([A-Za-z_]\w*)=(.*)$/s;
const KEYWORDS = ['{', '}', '!', 'do', 'done', 'then', 'else', 'fi', 'if', 'while', 'until', 'export', 'exec', 'time'];

export function readScript(script: string): Script {
  const reader = new Reader(filled(script), { commands: [], functions: [] });
  reader.read(0);
  return reader.found;
}

type Found = { commands: Command[]; functions: string[] };

const REDIRECTION = /^(?:<<<|<<-?|>>|[<>]&|&>|[<>])/;

class Reader {
  readonly found: Found;
  #text: string;
  #words: string[] = [];
  /** Null: between two words. */
  #word: string | null = null;
  /** The next word is the file of a redirection. */
  #isTarget = false;

  constructor(text: string, found: Found) {
    this.#text = text;
    this.found = found;
  }

  /** Reads up to the end or to a closing parenthesis, and returns the place behind it. */
  read(from: number): number {
    let at = from;
    while (at < this.#text.length) {
      const isEnd = this.#text.charAt(at) === ')';
      at += isEnd ? 1 : this.#step(this.#text.slice(at), at);
      if (isEnd) break;
    }
    this.#endCommand();
    return at;
  }

  /** Returns how many characters it read. */
  #step(rest: string, at: number): number {
    const quoted = readQuoted(rest, this.found);
    if (quoted !== null) {
      this.#word = (this.#word ?? '') + quoted.value;
      return quoted.length;
    }
    if (rest.startsWith('\\\n')) return 2;
    if (this.#word === null) {
      const [skipped] = /^(?:#.*|\d+(?=[<>]))/.exec(rest) ?? [];
      if (skipped !== undefined) return skipped.length;
    } else if (rest.startsWith('()')) {
      this.found.functions.push(this.#word);
      this.#word = null;
      return 2;
    }
    return this.#readPlain(rest, at);
  }

  #readPlain(rest: string, at: number): number {
    const [redirection] = REDIRECTION.exec(rest) ?? [];
    if (redirection !== undefined) {
      this.#endWord();
      this.#isTarget = true;
      const end = at + redirection.length;
      if (/^<<-?$/.test(redirection)) this.#text = withoutHereDocument(this.#text, end);
      return redirection.length;
    }
    const next = rest.charAt(0);
    if (/[\n;|&(]/.test(next)) this.#endCommand();
    else if (/\s/.test(next)) this.#endWord();
    else this.#word = (this.#word ?? '') + next;
    return 1;
  }

  #endWord(): void {
    if (this.#word === null) return;
    if (!this.#isTarget) this.#words.push(this.#word);
    this.#isTarget = false;
    this.#word = null;
  }

  #endCommand(): void {
    this.#endWord();
    const command = commandOf(this.#words);
    if (command.words.length > 0 || Object.keys(command.variables).length > 0) this.found.commands.push(command);
    this.#words = [];
  }
}

/** A quoted part, an escaped character, or a substitution, at the beginning of `rest`. */
function readQuoted(rest: string, found: Found): { value: string; length: number } | null {
  const [single] = /^'[^']*'/.exec(rest) ?? [];
  if (single !== undefined) return { value: single.slice(1, -1), length: single.length };
  const [escaped] = /^\\[^\n]/.exec(rest) ?? [];
  if (escaped !== undefined) return { value: escaped.slice(1), length: 2 };
  const [braced] = /^\$\{[^}]*\}/.exec(rest) ?? [];
  if (braced !== undefined) return { value: braced, length: braced.length };
  if (/^[$<>]\(/.test(rest)) {
    const length = new Reader(rest, found).read(2);
    return { value: rest.slice(0, length), length };
  }
  return rest.startsWith('"') ? readDoubleQuoted(rest, found) : null;
}

function readDoubleQuoted(rest: string, found: Found): { value: string; length: number } {
  let value = '';
  let at = 1;
  while (at < rest.length && rest.charAt(at) !== '"') {
    const inner = /^(?:\$[({]|\\["\\$`])/.test(rest.slice(at)) ? readQuoted(rest.slice(at), found) : null;
    value += inner?.value ?? rest.charAt(at);
    at += inner?.length ?? 1;
  }
  return { value, length: at + 1 };
}

/** The text without the lines that follow this one, up to the delimiter that stands here. */
function withoutHereDocument(text: string, at: number): string {
  const [, delimiter = ''] = /^\s*["']?(\w+)/.exec(text.slice(at)) ?? [];
  const begin = text.indexOf('\n', at) + 1;
  const end = text.slice(begin).search(new RegExp(`^\\s*${delimiter}$`, 'm'));
  return end === -1 ? text : text.slice(0, begin) + text.slice(begin + end).replace(/^.*\n?/, '');
}

function commandOf(all: readonly string[]): Command {
  const variables: Record<string, string> = {};
  const words = [...all];
  for (let [first] = words; first !== undefined; [first] = words) {
    const [, name, value = ''] = ASSIGNMENT.exec(first) ?? [];
    if (name !== undefined) variables[name] = value;
    else if (!KEYWORDS.includes(first)) break;
    words.shift();
  }
  return { variables, words };
}
