/** Whether a context has an unfinished job, which can be stopped. */
export function isBusy(state: string): boolean {
  return state !== 'Idle' && state !== 'PermanentFailure' && state !== 'Stopped';
}

/** Whether its job is unfinished and does not wait for a person. */
export function isMoving(state: string): boolean {
  return isBusy(state) && !['AwaitingToolApproval', 'AwaitingInput'].includes(state);
}
