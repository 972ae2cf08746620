/** The focus between the composer of a conversation and its messages. */

/** On touch screens the messages get it, to keep the keyboard closed. */
export function focusComposer(): void {
  if (!globalThis.matchMedia('(pointer: fine)').matches) return focusMessages();
  document.querySelector<HTMLElement>('main textarea[data-composer]')?.focus({ preventScroll: true });
}

export function focusMessages(): void {
  document.querySelector<HTMLElement>('main [role="log"]')?.focus({ preventScroll: true });
}
