/**
 * Copies a text to the clipboard. Resolves with whether that was possible: browsers allow it over HTTPS or from localhost,
 * and some only while they handle a press of a key or a button. So a text that is still being read is passed on as it is.
 * Rejects if it cannot be read.
 */
export async function copyText(text: string | Promise<string>): Promise<boolean> {
  if (!('clipboard' in navigator)) return false;
  if (typeof text === 'string') return succeeds(navigator.clipboard.writeText(text));
  if (typeof ClipboardItem === 'undefined') return succeeds(navigator.clipboard.writeText(await text));
  const blob = text.then((read) => new Blob([read], { type: 'text/plain' }));
  const isCopied = await succeeds(navigator.clipboard.write([new ClipboardItem({ 'text/plain': blob })]));
  // Else the browser would be blamed for a text that could not be read.
  await text;
  return isCopied;
}

function succeeds(copying: Promise<void>): Promise<boolean> {
  return copying.then(
    () => true,
    () => false,
  );
}
