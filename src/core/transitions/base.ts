/** What every move has in common: an append that so far adds nothing, and the entries that tell of a change. */
import type { Append, Entry } from '../append.ts';
import type { ContextEvent } from '../event.ts';
import type { JobId } from '../ids.ts';
import type { Mailbox } from '../snapshot.ts';
import { mayFollow } from '../state.ts';
import type { DurableState } from '../state.ts';

/** An append under the mailbox's lease, in its state, guarded by nothing but the epoch. */
export function blank(mailbox: Mailbox): Append {
  return {
    lease: mailbox.lease,
    branch: mailbox.activeBranch,
    guard: { controlSeq: null, wakeSeq: null },
    entries: [],
    calls: [],
    spawns: [],
    awaits: [],
    released: [],
    takenBack: null,
    job: null,
    compaction: null,
    modelCall: null,
    state: mailbox.state,
    park: null,
    failure: 'keep',
    progress: 'made',
  };
}

export function event(event: ContextEvent): Entry {
  return { kind: 'event', event };
}

/** The event of a change of state: none where it stays. A change that the table forbids is a bug. */
export function stateChange(from: DurableState, to: DurableState, jobId: JobId | null): Entry[] {
  if (!mayFollow(from, to)) throw new Error(`A context may not go from ${from} to ${to}.`);
  return from === to ? [] : [event({ name: 'StateChanged', data: { new_state: to, job_id: jobId } })];
}
