/** Unsent text of each context, kept in the session storage of the tab. */
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
    // Without session storage the draft is lost on reload.
  }
}
