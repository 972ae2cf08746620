/** Splits text into small pieces like a stream, never inside a surrogate pair. */
const SIZE = 24;

export function inPieces(text: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const end = Math.min(text.length, at + SIZE);
    const next = end < text.length && isHighHalf(text.charCodeAt(end - 1)) ? end + 1 : end;
    pieces.push(text.slice(at, next));
    at = next;
  }
  return pieces;
}

function isHighHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

const WORDS = ['night', 'shift', 'works', 'while', 'you', 'sleep', 'and', 'answers'];

/** Words `from` to `until` of an endless sentence. */
export function sentenceWords(from: number, until: number): string {
  let text = '';
  for (let at = from; at < until; at++) text += `${at === 0 ? '' : ' '}${WORDS[at % WORDS.length] ?? ''}`;
  return text;
}
