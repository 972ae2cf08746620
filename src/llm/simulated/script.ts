/** Parses a script into steps. Never throws: a line it does not understand becomes a `mistake`. */
import type { Json } from '../../core/json.ts';
import type { FailureClass, FinishReason } from '../../core/model/model.ts';
import { ASK_USER } from '../../core/conversation/question.ts';
import { readArguments } from '../wire/request/arguments.ts';
import { parseJson } from '../wire/answer/json.ts';
import { FAILURE_RULES } from '../../core/run/retry.ts';

export type Directive =
  | { kind: 'say'; text: string }
  | { kind: 'think'; text: string }
  | { kind: 'call'; name: string; input: Json }
  | { kind: 'tokens'; count: number; overMs: number }
  | { kind: 'wait'; ms: number }
  /** Fails while there were fewer than `times` consecutive failures before. */
  | { kind: 'fail'; class: FailureClass; retryAfterMs: number | null; times: number }
  | { kind: 'finish'; reason: FinishReason }
  | { kind: 'help' };

type Script =
  | { kind: 'steps'; steps: Directive[][] }
  /** No line is a directive: ordinary text. */
  | { kind: 'plain'; text: string }
  | { kind: 'mistake'; line: string };

export const FAILURE_CLASSES: readonly string[] = Object.keys(FAILURE_RULES);

function isFailureClass(text: string): text is FailureClass {
  return FAILURE_CLASSES.includes(text);
}

const KEYWORDS = ['say', 'think', 'call', 'ask', 'tokens', 'wait', 'fail', 'finish', 'help', 'then'] as const;
type Keyword = (typeof KEYWORDS)[number];

export function readScript(text: string): Script {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  if (!lines.some((line) => wordOf(line) !== null)) return { kind: 'plain', text };
  const steps: Directive[][] = [[]];
  for (const line of lines) {
    if (line === '' || line.startsWith('#')) continue;
    if (line === '---' || line === 'then:') {
      steps.push([]);
      continue;
    }
    const directive = readLine(line);
    if (directive === null) return { kind: 'mistake', line };
    steps.at(-1)?.push(directive);
  }
  return { kind: 'steps', steps };
}

function wordOf(line: string): Keyword | null {
  return KEYWORDS.find((word) => line.startsWith(`${word}:`)) ?? null;
}

function readLine(line: string): Directive | null {
  const word = wordOf(line);
  if (word === null) return null;
  const rest = line.slice(word.length + 1).trim();
  switch (word) {
    case 'say':
    case 'think':
      return { kind: word, text: quoted(rest) };
    case 'call':
      return readCall(rest);
    case 'ask':
      return readQuestion(rest);
    case 'tokens':
      return readTokens(rest);
    case 'wait':
      return readWait(rest);
    case 'fail':
      return readFail(rest);
    case 'finish':
      return readFinish(rest);
    case 'help':
      return rest === '' ? { kind: 'help' } : null;
    case 'then':
      return null;
  }
}

function quoted(text: string): string {
  const value = text.startsWith('"') ? parseJson(text) : undefined;
  return typeof value === 'string' ? value : text;
}

function readCall(rest: string): Directive | null {
  const match = /^(\S+)\s*(.*)$/s.exec(rest);
  const [, name = '', input = ''] = match ?? [];
  return name === '' ? null : { kind: 'call', name, input: readArguments(input) };
}

/** A question is a call of the tool `ask_user`; choices follow in brackets. */
function readQuestion(rest: string): Directive | null {
  const [, text = '', list] = /^(.*?)(?:\s*\[([^[\]]*)\])?$/.exec(rest) ?? [];
  if (text === '') return null;
  const choices = list?.split('|').map((choice) => choice.trim());
  const input = { question: quoted(text), ...(choices === undefined ? {} : { choices }) };
  return { kind: 'call', name: ASK_USER, input };
}

function readTokens(rest: string): Directive | null {
  const [, count = '', over = '0'] = /^(\d{1,7})(?:\s+over\s+(\S+))?$/.exec(rest) ?? [];
  const overMs = duration(over);
  return count === '' || overMs === null ? null : { kind: 'tokens', count: Number(count), overMs };
}

function readWait(rest: string): Directive | null {
  const ms = duration(rest);
  return ms === null ? null : { kind: 'wait', ms };
}

function readFail(rest: string): Directive | null {
  const match = /^(\w+)(?:\s+retry-after\s+(\S+))?(?:\s+times\s+(\d{1,9}))?$/.exec(rest);
  const [, name = '', wait, times] = match ?? [];
  const retryAfterMs = wait === undefined ? null : duration(wait);
  if (!isFailureClass(name) || (wait !== undefined && retryAfterMs === null)) return null;
  return { kind: 'fail', class: name, retryAfterMs, times: times === undefined ? Infinity : Number(times) };
}

function readFinish(rest: string): Directive | null {
  switch (rest) {
    case 'stop':
    case 'tool_use':
    case 'max_tokens':
    case 'pause':
    case 'other':
      return { kind: 'finish', reason: rest };
    default:
      return null;
  }
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** A number without a unit is milliseconds. At most the longest timer. */
function duration(text: string): number | null {
  const [, number, unit = 'ms'] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  const size = UNITS[unit];
  if (number === undefined || size === undefined) return null;
  const ms = Math.round(Number(number) * size);
  return ms < 2 ** 31 ? ms : null;
}
