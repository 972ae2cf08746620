/**
 * The run's in-memory snapshot after its append committed: history is read once per claim and then updated in memory.
 */
import type { Append, CallChange, Expected } from './append.ts';
import { withCompaction } from '../compaction/compacted.ts';
import type { MessageId } from '../ids.ts';
import type { ActiveJob } from './job.ts';
import type { Message } from '../conversation/message.ts';
import type { Snapshot } from './snapshot.ts';
import type { OpenCall } from '../tools/tool-call.ts';

export function apply(snapshot: Snapshot, append: Append, { firstSeq }: Expected): Snapshot {
  const began = append.job?.kind === 'admit';
  return {
    ...snapshot,
    state: append.state,
    ...remembered(snapshot, append, firstSeq),
    calls: callsAfter(snapshot.calls, append),
    job: jobAfter(snapshot.job, append),
    next: began ? null : snapshot.next,
    queued: began ? snapshot.queued - 1 : snapshot.queued,
    steers: snapshot.steers.filter(({ messageId }) => !isTaken(append, messageId)),
    failedClaims: append.progress === 'made' ? 0 : snapshot.failedClaims,
  };
}

/** Drops messages that a summary replaces, except the last of them. */
function remembered(snapshot: Snapshot, append: Append, firstSeq: number): Pick<Snapshot, 'history' | 'compacted'> {
  const history = [...kept(snapshot.history, append), ...numbered(snapshot, append, firstSeq)];
  const { compaction, entries } = append;
  if (compaction === null) return { history, compacted: snapshot.compacted };
  const place = entries.findIndex((entry) => entry.kind === 'event' && entry.event.name === 'ContextCompacted');
  const compacted = withCompaction(snapshot.compacted, compaction, firstSeq + place);
  const from = compacted.summary?.uptoSeq ?? 0;
  return { history: history.filter(({ seq }) => seq >= from), compacted };
}

function kept(history: Message[], { takenBack }: Append): Message[] {
  if (takenBack === null) return history;
  const retracted = new Set(takenBack.retracted);
  return history.filter(({ id }) => !retracted.has(id));
}

/** Whether the steered input was admitted or withdrawn. */
function isTaken({ entries, takenBack }: Append, messageId: MessageId): boolean {
  return (
    entries.some((entry) => entry.kind === 'admit' && entry.messageId === messageId) ||
    takenBack?.withdrawn.includes(messageId) === true
  );
}

function numbered({ next, steers }: Snapshot, { entries, job }: Append, firstSeq: number): Message[] {
  return entries.flatMap((entry, index): Message[] => {
    switch (entry.kind) {
      case 'message':
        return [{ ...entry.message, seq: firstSeq + index }];
      case 'admit': {
        const input = [...(next?.kind === 'input' ? [next] : []), ...steers].find(
          ({ messageId }) => messageId === entry.messageId,
        );
        if (input === undefined || input.content === null || job === null)
          throw new Error('The admitted input is not waiting, or its content was not read.');
        const { messageId: id, content } = input;
        const from = { turn: entry.turn, jobId: job.job.id, model: null };
        return [{ id, seq: firstSeq + index, role: 'user', type: 'text', content, ...from }];
      }
      case 'partial':
      case 'event':
        return [];
    }
  });
}

/** The open calls after the append commits. */
export function callsAfter(calls: OpenCall[], append: Append): OpenCall[] {
  return append.calls.reduce(changeCall, calls);
}

function changeCall(calls: OpenCall[], change: CallChange): OpenCall[] {
  switch (change.kind) {
    case 'request':
      return [...calls, requested(change)];
    case 'wait':
      return calls.map((call) => (call.id === change.id ? { ...call, status: 'waiting', wait: change.wait } : call));
    case 'approve':
      return calls.map((call) =>
        call.id === change.id ? { ...call, status: 'pending', wait: null, approval: change.approval } : call,
      );
    case 'start':
      return calls.map((call) => (call.id === change.id ? { ...call, status: 'started' } : call));
    case 'reopen':
      return calls.map((call) => (call.id === change.id ? { ...call, status: 'pending' } : call));
    case 'close':
      return calls.filter((call) => call.id !== change.id);
  }
}

function requested({ call, wait }: Extract<CallChange, { kind: 'request' }>): OpenCall {
  return { ...call, status: wait === null ? 'pending' : 'waiting', wait, reply: null, approval: null };
}

function jobAfter(job: ActiveJob | null, { job: change }: Append): ActiveJob | null {
  switch (change?.kind) {
    case undefined:
      return job;
    case 'admit':
    case 'progress':
      return change.job;
    case 'settle':
      return null;
  }
}
