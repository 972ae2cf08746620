/** What was met stands between `**` in a snippet; all of it is plain text, whatever it looks like. */
export function partsOf(snippet: string): { text: string; isMet: boolean }[] {
  return snippet
    .split('**')
    .map((text, at, all) => ({ text, isMet: at % 2 === 1 && at < all.length - 1 }))
    .filter(({ text }) => text !== '');
}
