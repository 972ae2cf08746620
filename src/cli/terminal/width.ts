/** The width of text in terminal columns: East Asian characters and emoji take two, combining marks none. */

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const EMOJI = /\p{Emoji_Presentation}|\uFE0F/u;
const INVISIBLE = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Yi}\p{Script=Tangut}\u3000-\u303E\uFE30-\uFE4F\uFF01-\uFF60\uFFE0-\uFFE6]/u;
/** Half-width forms, one column wide. */
const NARROW = /[\uFF61-\uFFDC]/u;

export function widthOf(text: string): number {
  // Fast path for plain ASCII.
  if (/^[\u0020-\u007E]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += widthOfOne(segment);
  return width;
}

function widthOfOne(grapheme: string): number {
  if (INVISIBLE.test(grapheme)) return 0;
  if (EMOJI.test(grapheme)) return 2;
  return WIDE.test(grapheme) && !NARROW.test(grapheme) ? 2 : 1;
}

/** Cuts text to a number of columns. Cut text ends with an ellipsis. */
export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = '';
  let width = 0;
  for (const { segment } of graphemes.segment(text)) {
    width += widthOfOne(segment);
    if (width > columns - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

export function padEnd(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)));
}

export function padStart(text: string, columns: number): string {
  return ' '.repeat(Math.max(0, columns - widthOf(text))) + text;
}
