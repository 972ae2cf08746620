/**
 * When PostgreSQL is polled: at intervals while something waits for the answers, one poll at a time, and at once if bus
 * messages may have been lost. Pure.
 */
export type Polling = {
  phase:
    | 'idle'
    /** For the timer. */
    | 'waiting'
    /** For the answer of PostgreSQL. */
    | 'asking';
  isUsed: boolean;
  isClosed: boolean;
};

export type PollingEvent =
  /** Whether something waits for the answers. */
  | { kind: 'use'; isUsed: boolean }
  | { kind: 'due' }
  /** PostgreSQL has answered, or is unavailable. */
  | { kind: 'answered' }
  /** Bus messages may have been lost. */
  | { kind: 'lost' }
  | { kind: 'closed' };

export type PollingEffect = 'set_timer' | 'clear_timer' | 'poll';

type PollingStep = { state: Polling; effects: readonly PollingEffect[] };

export const NO_POLLING: Polling = { phase: 'idle', isUsed: false, isClosed: false };

export function advancePolling(state: Polling, event: PollingEvent): PollingStep {
  switch (event.kind) {
    case 'use':
      return settle({ ...state, isUsed: event.isUsed });
    case 'closed':
      return settle({ ...state, isClosed: true });
    case 'due':
      return state.phase === 'waiting' ? begin(state) : { state, effects: [] };
    case 'lost':
      return state.phase === 'waiting' ? begin(state, 'clear_timer') : { state, effects: [] };
    case 'answered':
      return settle({ ...state, phase: 'idle' });
  }
}

function begin(state: Polling, ...before: PollingEffect[]): PollingStep {
  return { state: { ...state, phase: 'asking' }, effects: [...before, 'poll'] };
}

/** Sets or clears the timer. */
function settle(state: Polling): PollingStep {
  const isNeeded = state.isUsed && !state.isClosed;
  if (state.phase === 'idle' && isNeeded) return { state: { ...state, phase: 'waiting' }, effects: ['set_timer'] };
  if (state.phase === 'waiting' && !isNeeded) return { state: { ...state, phase: 'idle' }, effects: ['clear_timer'] };
  return { state, effects: [] };
}
