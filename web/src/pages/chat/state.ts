/** What a state of a context means for whoever writes to it. */

/** Something is under way, and can be stopped. */
export function isBusy(state: string): boolean {
  return !['Idle', 'PermanentFailure', 'Stopped'].includes(state);
}
