/** Converts an append into rows for the statement that writes it: one list per table. */
import type { Append, CallChange, Entry, JobChange, Park } from '../../../core/run/append.ts';
import type { ToolCallId } from '../../../core/ids.ts';
import type { Lease } from '../../../core/run/snapshot.ts';
import type { Millis } from '../../../core/time.ts';
import type { ModelCall } from '../../../core/model/model-call.ts';
import type { Wait } from '../../../core/tools/tool-call.ts';
import { NO_USAGE, addUsage } from '../../../core/money/usage.ts';
import { parseTurn } from '../../../core/conversation/turn.ts';
import { plainText } from '../../connection/codec.ts';
import { toTimestamp } from '../../connection/instant.ts';

/** A run queues its new messages for the search index when it parks, and after every so many steps. */
const SEARCHABLE_STEPS = 16;

export function contextRow(transition: Append) {
  const { lease, branch, guard, entries, takenBack, state, park, progress, failure, job, compaction } =
    transition;
  const messages = entries.flatMap((entry) => (entry.kind === 'message' ? [entry.message] : []));
  const answers = [
    ...messages.flatMap((message) => (message.model === null ? [] : [message.model.usage])),
    ...(compaction === null || compaction.usage === null ? [] : [compaction.usage]),
  ];
  const admitted = entries.filter((entry) => entry.kind === 'admit').length;
  const taken = job?.kind === 'admit' ? 1 : 0;
  // The input that starts a job was queued. All others were steers.
  const begins = job?.kind === 'admit' && job.job.kind === 'input' ? 1 : 0;
  return {
    id: lease.contextId,
    tenant: lease.tenantId,
    branch,
    epoch: lease.epoch,
    control: guard.controlSeq,
    wake: guard.wakeSeq,
    entries: entries.length,
    state,
    state_told: entries.some((entry) => entry.kind === 'event' && entry.event.name === 'StateChanged'),
    ...parkColumns(park),
    progress,
    settles: job?.kind === 'settle',
    messages: messages.length + admitted - (takenBack?.retracted.length ?? 0),
    taken,
    joined: admitted - begins + (takenBack?.withdrawn.length ?? 0),
    turn: Math.max(0, ...entries.map(turnNumber)),
    last_turn: takenBack?.lastTurn ?? null,
    requests: answers.length,
    ...answers.reduce(addUsage, NO_USAGE),
    failure_kept: failure === 'keep',
    failure:
      typeof failure === 'string'
        ? null
        : { code: failure.code, message: failure.message, job_id: failure.jobId },
    searchable:
      park !== null ||
      (job?.kind === 'progress' && answers.length > 0 && job.job.steps % SEARCHABLE_STEPS === 0),
  };
}

function parkColumns(park: Park | null) {
  switch (park?.status) {
    case undefined:
      return { park: null, until: null };
    case 'idle':
    case 'runnable':
      return { park: park.status, until: null };
    case 'waiting':
      return { park: park.status, until: toTimestamp(park.until) };
  }
}

function turnNumber(entry: Entry): number {
  switch (entry.kind) {
    case 'message':
      return parseTurn(entry.message.turn)?.number ?? 0;
    case 'admit':
      return parseTurn(entry.turn)?.number ?? 0;
    case 'event':
      return 0;
  }
}

/** `place` counts from 1: the first entry gets the sequence number after the context's current head. */
export function messageRows({ lease, entries, calls, modelCall }: Append) {
  return entries.flatMap((entry, index) => {
    if (entry.kind !== 'message') return [];
    const { id, role, type, turn, content, jobId, model } = entry.message;
    const made =
      model === null
        ? {}
        : {
            model_id: plainText(model.modelId),
            provider_id: model.providerId,
            finish_reason: plainText(model.finishReason),
            ...model.usage,
          };
    return [
      {
        context_id: lease.contextId,
        place: index + 1,
        id,
        role,
        type,
        turn,
        content,
        job_id: jobId,
        ...made,
        ...(modelCall?.kind === 'answered' && modelCall.messageId === id
          ? {
              ...callColumns(modelCall),
              prompt: modelCall.prompt,
              completed_at: toTimestamp(firstBegan(calls)),
            }
          : {}),
      },
    ];
  });
}

type CallEnd = Extract<CallChange, { kind: 'close' }>;

/** The ends of calls that are requested and closed by the same append. */
function endsAtOnce(calls: readonly CallChange[]): Map<ToolCallId, CallEnd> {
  const asked = new Set(calls.flatMap((change) => (change.kind === 'request' ? [change.call.id] : [])));
  return new Map(
    calls.flatMap((change) =>
      change.kind === 'close' && asked.has(change.id) ? [[change.id, change] as const] : [],
    ),
  );
}

/** The answer was complete when the first call that ended with it began. Null: it completes when it is stored. */
function firstBegan(calls: readonly CallChange[]): Millis | null {
  const began = [...endsAtOnce(calls).values()].flatMap(({ execution }) => execution?.beganAt ?? []);
  return began.length === 0 ? null : Math.min(...began);
}

function callColumns({ attempt, calledAt, firstByteAt }: ModelCall) {
  return { attempt, called_at: toTimestamp(calledAt), first_byte_at: toTimestamp(firstByteAt) };
}

export function failedCallRows({ lease, modelCall }: Append) {
  if (modelCall?.kind !== 'failed') return [];
  const { jobId, model, error, retryAt, prompt } = modelCall;
  return [
    {
      context_id: lease.contextId,
      job_id: jobId,
      model: plainText(model),
      error,
      retry_at: toTimestamp(retryAt),
      prompt,
      ...callColumns(modelCall),
    },
  ];
}

export function admittedRows({ lease, entries }: Append) {
  return entries.flatMap((entry, index) =>
    entry.kind === 'admit'
      ? [{ context_id: lease.contextId, place: index + 1, id: entry.messageId, turn: entry.turn }]
      : [],
  );
}

export function idRows({ contextId }: Lease, ids: readonly string[] = []) {
  return ids.map((id) => ({ context_id: contextId, id }));
}

export function eventRows({ lease, entries }: Append) {
  return entries.flatMap((entry, index) =>
    entry.kind === 'event'
      ? [{ context_id: lease.contextId, place: index + 1, name: entry.event.name, data: entry.event.data }]
      : [],
  );
}

/** `ended`: the final status of a call that this append also closes. `began_at` then becomes its `created_at`. */
export function requestedRows({ lease, calls }: Append) {
  const ends = endsAtOnce(calls);
  return calls.flatMap((change) =>
    change.kind === 'request'
      ? [
          {
            context_id: lease.contextId,
            id: change.call.id,
            job_id: change.call.jobId,
            message_id: change.call.messageId,
            ordinal: change.call.ordinal,
            name: plainText(change.call.name),
            effect: change.call.effect,
            on_unknown: change.call.onUnknown,
            ...endedColumns(ends.get(change.call.id)),
            ...waitColumns(change.wait),
          },
        ]
      : [],
  );
}

function endedColumns(end: CallEnd | undefined) {
  if (end === undefined) return {};
  return { ended: end.status, began_at: toTimestamp(end.execution?.beganAt ?? null) };
}

/** Skips the end of calls requested by this append: `requestedRows` already contains it. */
export function changedRows({ lease, calls }: Append) {
  const ends = endsAtOnce(calls);
  return calls.flatMap((change) =>
    change.kind === 'request' || (change.kind === 'close' && ends.has(change.id))
      ? []
      : [
          {
            context_id: lease.contextId,
            id: change.id,
            status: statusAfter(change),
            ...waitColumns(waitAfter(change)),
            ...(change.kind === 'approve' && { approval: change.approval }),
          },
        ],
  );
}

function statusAfter(change: Exclude<CallChange, { kind: 'request' }>) {
  switch (change.kind) {
    case 'approve':
      return 'pending';
    case 'start':
      return 'started';
    case 'wait':
      return 'waiting';
    case 'reopen':
      return 'pending';
    case 'close':
      return change.status;
  }
}

function waitAfter(change: Exclude<CallChange, { kind: 'request' }>): Wait | null {
  return change.kind === 'wait' ? change.wait : null;
}

function waitColumns(wait: Wait | null) {
  if (wait === null) return {};
  return { waits_for: wait.for, expires_at: toTimestamp(wait.until), needs: wait.needs };
}

export function jobRows({ lease, job: change }: Append) {
  if (change === null) return [];
  const { job } = change;
  return [
    {
      context_id: lease.contextId,
      id: job.id,
      turn: job.turn,
      attempt: job.attempt,
      failures: job.failures,
      steps: job.steps,
      admitted: change.kind === 'admit',
      ...job.usage,
      ...endColumns(change),
    },
  ];
}

function endColumns(change: JobChange) {
  const { job } = change;
  if (change.kind !== 'settle') {
    return {
      status: job.status,
      retry_at: toTimestamp(job.retryAt),
      error: job.lastFailure,
      output_id: null,
      finished: false,
      delivered_at: null,
    };
  }
  const { outcome } = change;
  return {
    status: outcome.status,
    retry_at: null,
    error: 'error' in outcome ? outcome.error : null,
    output_id: outcome.status === 'completed' ? outcome.outputId : null,
    finished: true,
    delivered_at: toTimestamp(job.stopRequest?.deliveredAt ?? null),
  };
}
