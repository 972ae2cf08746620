/** Whether a context has an unfinished job, which can be stopped. */
export function isBusy(state: string): boolean {
  return !['Idle', 'PermanentFailure', 'Stopped'].includes(state);
}
