/** Differences between two texts, line by line. */

/** Unchanged lines that are shown around a change. */
const AROUND = 3;

/** Characters of an unchanged line that are shown. */
const LONGEST = 160;

/** Beyond this many pairs of lines, a changed part is shown as removed and added as a whole. */
const MOST_PAIRS = 4_000_000;

type Line = { mark: ' ' | '-' | '+'; text: string };

/** Empty: the texts are equal. `-` before lines of the first text only, `+` before lines of the second. */
export function diffLines(before: readonly string[], after: readonly string[]): string[] {
  const start = commonStart(before, after);
  const end = commonStart(before.slice(start).toReversed(), after.slice(start).toReversed());
  const left = before.slice(start, before.length - end);
  const right = after.slice(start, after.length - end);
  if (left.length === 0 && right.length === 0) return [];
  const kept = (lines: readonly string[]): Line[] => lines.map((text) => ({ mark: ' ', text }));
  const all = [...kept(before.slice(0, start)), ...changed(left, right), ...kept(before.slice(before.length - end))];
  return shown(all);
}

function commonStart(one: readonly string[], other: readonly string[]): number {
  let length = 0;
  while (length < Math.min(one.length, other.length) && one[length] === other[length]) length += 1;
  return length;
}

/** By the longest common subsequence. */
function changed(left: readonly string[], right: readonly string[]): Line[] {
  if (left.length * right.length > MOST_PAIRS) return [...marked('-', left), ...marked('+', right)];
  const lengths = commonLengths(left, right);
  const at = (i: number, j: number): number => lengths[i]?.[j] ?? 0;
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < left.length && j < right.length) {
    const text = left[i] ?? '';
    if (text === right[j]) {
      lines.push({ mark: ' ', text });
      [i, j] = [i + 1, j + 1];
    } else if (at(i + 1, j) >= at(i, j + 1)) {
      lines.push({ mark: '-', text });
      i += 1;
    } else {
      lines.push({ mark: '+', text: right[j] ?? '' });
      j += 1;
    }
  }
  return [...lines, ...marked('-', left.slice(i)), ...marked('+', right.slice(j))];
}

/** The length of the longest common subsequence from each pair of places on. */
function commonLengths(left: readonly string[], right: readonly string[]): Uint32Array[] {
  const lengths = Array.from({ length: left.length + 1 }, () => new Uint32Array(right.length + 1));
  for (let i = left.length - 1; i >= 0; i -= 1) {
    const [row, below] = [lengths[i], lengths[i + 1]];
    if (row === undefined || below === undefined) continue;
    for (let j = right.length - 1; j >= 0; j -= 1) {
      row[j] = left[i] === right[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return lengths;
}

function marked(mark: Line['mark'], texts: readonly string[]): Line[] {
  return texts.map((text) => ({ mark, text }));
}

/** Changes with the lines around them; `…` for those that are left out. */
function shown(lines: readonly Line[]): string[] {
  const isNear = (at: number): boolean =>
    lines.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(({ mark }) => mark !== ' ');
  return lines.flatMap(({ mark, text }, at) => {
    if (isNear(at)) return [`${mark} ${mark === ' ' ? shortened(text) : text}`.trimEnd()];
    return at === 0 || isNear(at - 1) ? ['  …'] : [];
  });
}

function shortened(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)} …`;
}
