/** Splits a snippet at `**`, which marks the matches. All parts are plain text, not Markdown. */
export function partsOf(snippet: string): { text: string; isMet: boolean }[] {
  return snippet
    .split('**')
    .map((text, at, all) => ({ text, isMet: at % 2 === 1 && at < all.length - 1 }))
    .filter(({ text }) => text !== '');
}
