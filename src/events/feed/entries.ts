/** Numbered entries: they move the tail, go to all subscribers, and end partial messages. */
import { isSettled, voided, type View } from '../../core/stream/partial-message.ts';
import { MESSAGE_COMPLETED, MESSAGE_INCOMPLETE, type NumberedEvent } from '../../core/stream/stream-event.ts';
import { step, withOver, type FeedState, type FeedStep } from './state.ts';

/** Takes the entries up to `tail`. */
export function deliver(state: FeedState, entries: readonly NumberedEvent[], tail: number): FeedStep {
  const after = entries.reduce(note, { ...state, tail });
  return step(after, { kind: 'deliver', entries, tail });
}

/** The view of a message that `entries` complete although not all of its frames arrived. */
export function unfinished({ view }: FeedState, entries: readonly NumberedEvent[]): View | null {
  if (view === null || isSettled(view)) return null;
  const isIn = entries.some(({ name, data }) => name === MESSAGE_COMPLETED && data['message_id'] === view.of.messageId);
  return isIn ? view : null;
}

function note(state: FeedState, { name, data }: NumberedEvent): FeedState {
  const { view } = state;
  switch (name) {
    case MESSAGE_COMPLETED:
    case MESSAGE_INCOMPLETE: {
      const isOfView = view?.of.messageId === data['message_id'];
      return withOver(isOfView ? { ...state, view: null } : state, data['message_id']);
    }
    case 'JobFinished': {
      const isOfView = view?.of.jobId === data['job_id'];
      return withOver(isOfView ? { ...state, view: null } : state, data['job_id']);
    }
    case 'StateChanged':
      return view !== null && data['new_state'] === 'TransientFailure' ? { ...state, view: voided(view) } : state;
    default:
      return state;
  }
}
