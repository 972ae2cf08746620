/**
 * The states of a context visible to users, and the table of allowed transitions. `docs/states.md` is generated from
 * it.
 *
 * Durable states are written with commits that happen anyway. Fleeting states are published without a number and
 * never stored: between two commits the stored state describes the current activity. `ProcessingUserMessage` is
 * published as an event when an input is admitted, and shown for a context with an input waiting to be admitted
 * (`shownState`).
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

/** States that wait for an external event without a slot. */
const WAITS = ['AwaitingToolApproval', 'AwaitingInput', 'AwaitingWorkers'] as const;
/** States in which a job may leave its context. */
const ENDS = ['Idle', 'PermanentFailure', 'Stopped'] as const;

/** Staying in a state is always allowed. A transition not listed here is a bug. */
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

export function mayFollow(from: State, to: State): boolean {
  return from === to || TRANSITIONS[from].includes(to);
}

/** The state shown to readers: an accepted input is shown as being processed before a run has claimed it. */
export function shownState(stored: DurableState, status: string, queued: number): DurableState {
  const resting = stored === 'Idle' || stored === 'PermanentFailure';
  return resting && status === 'runnable' && queued > 0 ? 'ProcessingUserMessage' : stored;
}
