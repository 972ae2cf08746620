/** What was written and not sent, kept for each context for as long as the browser's tab is there. */
const KEPT_AS = 'nightshift.draft.';

export function readDraft(contextId: string): string {
  try {
    return sessionStorage.getItem(KEPT_AS + contextId) ?? '';
  } catch {
    return '';
  }
}

export function keepDraft(contextId: string, text: string): void {
  try {
    if (text === '') sessionStorage.removeItem(KEPT_AS + contextId);
    else sessionStorage.setItem(KEPT_AS + contextId, text);
  } catch {
    // A browser that keeps nothing forgets it with the page.
  }
}
