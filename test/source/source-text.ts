// Reads TypeScript as text for the tests of the architecture: comments and the insides of strings separated from code.
// Not a parser: it recognises the ends of a string, a template, a comment and a regular expression, and nothing else.

export type SourceText = {
  /** Comments blanked. */
  readonly uncommented: string;
  /** Comments, and the text of strings, templates and regular expressions, blanked; `${…}` in templates is code. */
  readonly bare: string;
};

/** After these a slash begins a regular expression. */
const BEFORE_REGEX = /(?:^|[(,=:[!&|?{};+\n]|\b(?:return|case|typeof))\s*$/;

/** Both texts have the same length and the same lines as `text`. */
export function readSource(text: string): SourceText {
  const uncommented = text.split('');
  const bare = text.split('');
  const blank = (target: string[], from: number, to: number): void => {
    for (let at = from; at < to; at += 1) if (target[at] !== '\n') target[at] = ' ';
  };
  /** Depth of braces in each open `${…}` of a template. */
  const holes: number[] = [];
  let at = 0;
  while (at < text.length) {
    const rest = text.slice(at, at + 2);
    const char = rest.charAt(0);
    if (rest === '//' || rest === '/*') {
      const end = rest === '//' ? endOfLine(text, at) : text.indexOf('*/', at) + 2;
      blank(uncommented, at, end);
      blank(bare, at, end);
      at = end;
    } else if (char === "'" || char === '"') {
      const end = endOfString(text, at, char);
      blank(bare, at + 1, end - 1);
      at = end;
    } else if (char === '`' || (char === '}' && holes.at(-1) === 0)) {
      if (char === '}') holes.pop();
      const end = endOfTemplateText(text, at + 1);
      blank(bare, at + 1, end.opens ? end.at - 2 : end.at - 1);
      if (end.opens) holes.push(0);
      at = end.at;
    } else if (char === '/' && BEFORE_REGEX.test(text.slice(Math.max(0, at - 20), at))) {
      const end = endOfRegex(text, at);
      blank(bare, at + 1, end);
      at = end;
    } else {
      const depth = holes.at(-1);
      if (depth !== undefined && char === '{') holes[holes.length - 1] = depth + 1;
      if (depth !== undefined && char === '}') holes[holes.length - 1] = depth - 1;
      at += 1;
    }
  }
  return { uncommented: uncommented.join(''), bare: bare.join('') };
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

function endOfString(text: string, start: number, quote: string): number {
  let at = start + 1;
  while (at < text.length && text[at] !== quote) at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function endOfTemplateText(text: string, start: number): { at: number; opens: boolean } {
  let at = start;
  while (at < text.length && text[at] !== '`') {
    if (text.startsWith('${', at)) return { at: at + 2, opens: true };
    at += text[at] === '\\' ? 2 : 1;
  }
  return { at: at + 1, opens: false };
}

function endOfRegex(text: string, start: number): number {
  let inClass = false;
  let at = start + 1;
  while (at < text.length && text[at] !== '\n' && (inClass || text[at] !== '/')) {
    if (text[at] === '[') inClass = true;
    if (text[at] === ']') inClass = false;
    at += text[at] === '\\' ? 2 : 1;
  }
  return at + 1;
}

/** The modules that a source imports, in their order. */
export function importsOf({ uncommented, bare }: SourceText): string[] {
  const found: { at: number; name: string }[] = [];
  for (const match of bare.matchAll(/\b(?:from|import)\s*\(?\s*(['"])/g)) {
    const quote = match.index + match[0].length - 1;
    const end = bare.indexOf(match[1] ?? '', quote + 1);
    found.push({ at: quote, name: uncommented.slice(quote + 1, end) });
  }
  return found.map(({ name }) => name);
}

/** The text from `open` (a bracket in `bare`) to the bracket that closes it. */
export function bracketed(bare: string, open: number): string {
  let depth = 0;
  for (let at = open; at < bare.length; at += 1) {
    if ('([{'.includes(bare.charAt(at))) depth += 1;
    if (')]}'.includes(bare.charAt(at))) depth -= 1;
    if (depth === 0) return bare.slice(open, at + 1);
  }
  return bare.slice(open);
}
