/** Copies a text to the clipboard. Resolves with whether that was possible: browsers allow it over HTTPS or from localhost. */
export async function copyText(text: string): Promise<boolean> {
  if (!('clipboard' in navigator)) return false;
  return navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
}
