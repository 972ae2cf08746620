/** The first `most` UTF-16 units of a text; one less where the cut would be inside of a surrogate pair. */
export function cut(text: string, most: number): string {
  const end = /[\uD800-\uDBFF]/.test(text.charAt(most - 1)) ? most - 1 : most;
  return text.slice(0, end);
}
