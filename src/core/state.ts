/**
 * What a user sees of a context, and which state may follow which: the one table. `docs/states.md` is made from it.
 *
 * Durable states are written where a commit happens anyway. Fleeting ones are published without a number and are never
 * stored: between two commits the stored state names what the context is busy with. `ProcessingUserMessage` is told as
 * an event when an input is admitted, and shown for a context whose input waits to be (`shownState`).
 */
export const STATES = [
  'Idle',
  'ProcessingUserMessage',
  'AwaitingLLMResponse',
  'StreamingLLMResponse',
  'ProcessingLLMResponse',
  'AwaitingToolApproval',
  'AwaitingInput',
  'AwaitingWorkers',
  'ExecutingTools',
  'TransientFailure',
  'PermanentFailure',
  'Stopped',
] as const;
export type State = (typeof STATES)[number];

export const FLEETING = ['StreamingLLMResponse', 'ProcessingLLMResponse'] as const satisfies readonly State[];
export type FleetingState = (typeof FLEETING)[number];
export type DurableState = Exclude<State, FleetingState>;

/** States that wait for something outside while no slot is held. */
const WAITS = ['AwaitingToolApproval', 'AwaitingInput', 'AwaitingWorkers'] as const;
/** How a job may leave its context. */
const ENDS = ['Idle', 'PermanentFailure', 'Stopped'] as const;

/** Staying is always allowed; what is not listed is a bug. */
export const TRANSITIONS: Readonly<Record<State, readonly State[]>> = {
  Idle: ['ProcessingUserMessage', 'Stopped'],
  ProcessingUserMessage: ['AwaitingLLMResponse', ...ENDS],
  AwaitingLLMResponse: [
    'StreamingLLMResponse',
    'ProcessingLLMResponse',
    'ExecutingTools',
    'TransientFailure',
    ...WAITS,
    ...ENDS,
  ],
  StreamingLLMResponse: ['ProcessingLLMResponse', 'AwaitingLLMResponse', 'TransientFailure', ...ENDS],
  ProcessingLLMResponse: ['ExecutingTools', 'AwaitingLLMResponse', ...WAITS, ...ENDS],
  AwaitingToolApproval: ['ExecutingTools', 'AwaitingLLMResponse', ...WAITS, ...ENDS],
  AwaitingInput: ['ExecutingTools', 'AwaitingLLMResponse', ...WAITS, ...ENDS],
  AwaitingWorkers: ['ExecutingTools', 'AwaitingLLMResponse', ...WAITS, ...ENDS],
  ExecutingTools: ['AwaitingLLMResponse', ...WAITS, ...ENDS],
  TransientFailure: ['AwaitingLLMResponse', 'ExecutingTools', ...WAITS, ...ENDS],
  PermanentFailure: ['ProcessingUserMessage', 'Idle', 'Stopped'],
  Stopped: ['Idle', 'ProcessingUserMessage'],
};

/** Whether a context in `from` may go to `to`. */
export function mayFollow(from: State, to: State): boolean {
  return from === to || TRANSITIONS[from].includes(to);
}

/** What a reader is shown: an input that was accepted is being processed, though no runner has taken it up yet. */
export function shownState(stored: DurableState, status: string, queued: number): DurableState {
  const resting = stored === 'Idle' || stored === 'PermanentFailure';
  return resting && status === 'runnable' && queued > 0 ? 'ProcessingUserMessage' : stored;
}
