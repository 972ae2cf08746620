// Output that a page shows, held against what a command wrote. `…` stands for anything, also for further members of
// JSON; JSON may be written with spaces. Ids, durations and numbers of tokens differ from run to run.

/** Commands, and what the comments behind them (`# → …`) say that the last one writes. */
export type Shown = { code: string; expected: readonly string[] };

const ARROW = /^\s*(?:#|\/\/) → (.*)$/;

export function shownIn(text: string): Shown[] {
  const parts: { code: string; expected: string[] }[] = [{ code: '', expected: [] }];
  for (const line of text.trimEnd().split('\n')) {
    const [, expected] = ARROW.exec(line) ?? [];
    const last = parts.at(-1);
    if (expected !== undefined) last?.expected.push(expected);
    else if (last === undefined || last.expected.length > 0) parts.push({ code: `${line}\n`, expected: [] });
    else last.code += `${line}\n`;
  }
  return parts;
}

/** Whether the output ends with these lines. */
export const endsAsShown = (output: string, expected: readonly string[]): boolean =>
  new RegExp(`(?:^|\n)${expected.map(patternOf).join('\n')}$`).test(compact(output));

/** Whether it consists of these lines. */
export const isAsShown = (output: string, expected: string): boolean =>
  new RegExp(`^${compact(expected).split('\n').map(patternOf).join('\n')}$`).test(compact(output));

/** Without the spaces of JSON, outside of its texts. */
const compact = (text: string): string =>
  text
    .trimEnd()
    .replaceAll(
      /("(?:[^"\\\n]|\\.)*")|([,:{[]) +(?=["[{…\d\-tfn])/g,
      (_, quoted: string | undefined, mark: string) => quoted ?? mark,
    );

const PARTS = /,?…,?|\b\d+(?:\.\d+)?m?s\b|\b\d+ tokens\b|\b[\da-f]{8}-[\da-f]{4}-(?:…|[\da-f-]+)/g;

function patternOf(line: string): string {
  const text = compact(line);
  let pattern = '';
  let at = 0;
  for (const { 0: part, index } of text.matchAll(PARTS)) {
    pattern += escaped(text.slice(at, index)) + patternOfPart(part);
    at = index + part.length;
  }
  return pattern + escaped(text.slice(at));
}

function patternOfPart(part: string): string {
  if (/^,?…,?$/.test(part)) return '.*';
  if (part.endsWith('s') && !part.includes('-')) return part.endsWith('tokens') ? '\\d+ tokens' : '\\d+(?:\\.\\d+)?m?s';
  return '[\\da-f-]+';
}

const escaped = (text: string): string => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
