/** The holder's own view after its append was committed: history is read once per claim, then kept in step. */
import type { Append, AppendOutcome, CallChange, Entry } from './append.ts';
import type { ActiveJob, QueuedJob } from './job.ts';
import type { Message } from './message.ts';
import type { Snapshot } from './snapshot.ts';
import type { OpenCall } from './tool-call.ts';

export function apply(
  snapshot: Snapshot,
  append: Append,
  outcome: Extract<AppendOutcome, { kind: 'committed' }>,
): Snapshot {
  const began = append.job?.kind === 'admit';
  return {
    ...snapshot,
    state: append.state,
    history: [...snapshot.history, ...numbered(append.entries, outcome.firstSeq, snapshot.next)],
    calls: append.calls.reduce(changeCall, snapshot.calls),
    job: jobAfter(snapshot.job, append),
    next: began ? null : snapshot.next,
    queued: began ? snapshot.queued - 1 : snapshot.queued,
    barrenClaims: append.progress === 'made' ? 0 : snapshot.barrenClaims,
  };
}

function numbered(entries: readonly Entry[], firstSeq: number, next: QueuedJob | null): Message[] {
  return entries.flatMap((entry, index): Message[] => {
    switch (entry.kind) {
      case 'message':
        return [{ ...entry.message, seq: firstSeq + index }];
      case 'admit':
        return next?.kind === 'input' ? [admitted(next, entry.turn, firstSeq + index)] : [];
      case 'event':
        return [];
    }
  });
}

function admitted(next: Extract<QueuedJob, { kind: 'input' }>, turn: Message['turn'], seq: number): Message {
  return {
    id: next.messageId,
    seq,
    role: 'user',
    type: 'text',
    turn,
    content: next.content,
    jobId: next.id,
    model: null,
  };
}

function changeCall(calls: OpenCall[], change: CallChange): OpenCall[] {
  switch (change.kind) {
    case 'request':
      return [...calls, { ...change.call, status: 'pending' }];
    case 'start':
      return calls.map((call) => (call.id === change.id ? { ...call, status: 'started' } : call));
    case 'close':
      return calls.filter((call) => call.id !== change.id);
  }
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
