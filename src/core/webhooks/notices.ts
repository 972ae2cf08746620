/** Which events of webhooks follow from the events of a context. */
import type { ContextEvent } from '../stream/event.ts';
import type { JobId, ToolCallId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import { JOB_STATUSES, isFinished, type FinishedStatus } from '../run/job.ts';

/** What a job waits for. */
export type Waiting = {
  kind: 'approval' | 'input' | 'unknown_outcome';
  tool_call_id: ToolCallId;
  name: string;
};

/** An event of a webhook, without what is read of its job. */
export type Notice = { jobId: JobId } & (
  | { type: 'job.started' }
  /** The calls that began to wait for a person or a client. */
  | { type: 'job.waiting'; waitingFor: Waiting[] }
  | { type: 'job.finished'; status: FinishedStatus }
  | { type: 'worker.failed' }
  /** `approval`: the data of the event in the stream of the context. */
  | { type: 'approval.requested' | 'approval.resolved'; approval: JsonObject }
);

/** An event as it is stored. */
export type StoredEvent = { name: string; data: JsonObject };

const WAITS = {
  ApprovalRequested: 'approval',
  InputRequested: 'input',
  OutcomeUnknown: 'unknown_outcome',
} as const satisfies Partial<Record<ContextEvent['name'], Waiting['kind']>>;

const OTHERS = ['JobStarted', 'JobFinished', 'ApprovalResolved'] as const satisfies ContextEvent['name'][];

const NOTICED: ReadonlySet<string> = new Set([...Object.keys(WAITS), ...OTHERS]);

/** Whether a webhook may want to know of the event. */
export function isNoticed({ name }: Pick<ContextEvent, 'name'>): boolean {
  return NOTICED.has(name);
}

/** In their order. All events were added by one transaction, so calls that began to wait in it are one notice. */
export function noticesOf(events: readonly StoredEvent[]): Notice[] {
  const waiting = Map.groupBy(
    events.filter(({ name }) => name in WAITS),
    ({ data }) => data['job_id'] as JobId,
  );
  const noticed = new Set<JobId>();
  return events.flatMap((event): Notice[] => {
    const jobId = event.data['job_id'] as JobId;
    const waits = waiting.get(jobId) ?? [];
    const first: Notice[] =
      event.name in WAITS && !noticed.has(jobId)
        ? [{ type: 'job.waiting', jobId, waitingFor: waits.map(toWaiting) }]
        : [];
    if (event.name in WAITS) noticed.add(jobId);
    return [...first, ...noticeOf(event, jobId)];
  });
}

function noticeOf({ name, data }: StoredEvent, jobId: JobId): Notice[] {
  switch (name) {
    case 'JobStarted':
      return [{ type: 'job.started', jobId }];
    case 'JobFinished':
      return finished(jobId, data['status']);
    case 'ApprovalRequested':
      return [{ type: 'approval.requested', jobId, approval: data }];
    case 'ApprovalResolved':
      return [{ type: 'approval.resolved', jobId, approval: data }];
    default:
      return [];
  }
}

/** A worker has failed when its job has. */
function finished(jobId: JobId, text: unknown): Notice[] {
  const status = JOB_STATUSES.find((one) => one === text);
  if (status === undefined || !isFinished(status)) return [];
  const ended: Notice = { type: 'job.finished', jobId, status };
  return status === 'failed' ? [ended, { type: 'worker.failed', jobId }] : [ended];
}

function toWaiting({ name, data }: StoredEvent): Waiting {
  const kind = WAITS[name as keyof typeof WAITS];
  return { kind, tool_call_id: data['tool_call_id'] as ToolCallId, name: data['name'] as string };
}
