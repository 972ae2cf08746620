/**
 * Converts a job and its steps to chart rows; each row consists of time stretches. Times are milliseconds since 1970.
 */
import type { CallWait, ChildJob, Job, JobStep } from 'nightshift/client';

/** Waits, during which the job holds no slot of a worker process. */
const WAITS = {
  approval: 'Waiting for approval',
  answer: 'Waiting for an answer',
  client: 'Waiting for the client',
  outcome: 'Waiting for the outcome',
  timer: 'Waiting for a timer',
  workers: 'Waiting for workers',
  retry: 'Waiting to retry',
} as const satisfies Record<CallWait['for'] | 'retry', string>;

export const STRETCHES = {
  delay: 'Delayed',
  queue: 'Queued',
  first: 'Time to first token',
  model: 'Model output',
  tool: 'Tool execution',
  open: 'Not run',
  ...WAITS,
  compact: 'Compaction',
  child: 'Child worker',
} as const;

export type StretchKind = keyof typeof STRETCHES;

export function isWait(kind: StretchKind): boolean {
  return kind in WAITS;
}

/** `to` is null while the stretch continues. `expires`: when the wait times out. */
export type Stretch = { kind: StretchKind; from: number; to: number | null; expires?: number };

type Place = {
  id: string;
  name: string;
  status: string;
  from: number;
  to: number | null;
  stretches: Stretch[];
};

export type Row = Place &
  (
    | { kind: 'queue' }
    /** `again`: the attempt number if the previous attempt failed. */
    | { kind: 'step'; step: JobStep; again: number | null }
    | { kind: 'child'; job: ChildJob }
  );

export function rowsOf(job: Job, steps: readonly JobStep[]): Row[] {
  // A tool call is requested when the answer that contains it is complete.
  const requestedAt = new Map(
    steps.flatMap((step) =>
      step.kind === 'model' && step.message_id !== null && step.ended_at !== null
        ? [[step.message_id, Date.parse(step.ended_at)] as const]
        : [],
    ),
  );
  const of = steps.map((step, place) => toRow(step, place, requestedAt.get(step.message_id ?? '')));
  return [
    queueRow(job, of[0]?.from ?? null),
    ...of.flatMap((row) => [repeatRows(row, of), ...(row.step.child === null ? [] : [childRow(row.step.child)])]),
  ];
}

type StepRow = Extract<Row, { kind: 'step' }>;

/** Attempts are counted over the whole job; the number is shown only for a retry. */
function repeatRows(row: StepRow, rows: readonly StepRow[]): Row {
  if (row.step.kind !== 'model') return row;
  const before = rows.slice(0, rows.indexOf(row)).findLast(({ step }) => step.kind === 'model');
  return before?.status === 'failed' ? { ...row, again: row.step.attempt } : row;
}

/** What comes before the first step: a delayed job joins the queue at its start, unless it ended before. */
function queueRow(job: Job, first: number | null): Row {
  const { status, created_at, starts_at, started_at, finished_at } = job;
  const created = Date.parse(created_at);
  const start = parse(starts_at) ?? created;
  const ended = started_at === null ? parse(finished_at) : null;
  if (status === 'delayed' || (ended !== null && ended < start))
    return beforeSteps('delay', 'Delay', { from: created, to: ended });
  const taken = parse(started_at) ?? ended;
  // A model call can start before the start of the job is recorded.
  const to = taken === null ? null : Math.max(start, Math.min(taken, first ?? taken));
  return beforeSteps('queue', 'Queue', { from: start, to });
}

function beforeSteps(kind: 'delay' | 'queue', name: string, { from, to }: Pick<Stretch, 'from' | 'to'>): Row {
  const status = to !== null ? 'completed' : kind === 'delay' ? 'delayed' : 'queued';
  return { kind: 'queue', id: 'queue', name, status, from, to, stretches: [{ kind, from, to }] };
}

function childRow(job: ChildJob): Row {
  const from = Date.parse(job.created_at);
  const [began, to] = [parse(job.started_at), parse(job.finished_at)];
  const stretches: Stretch[] = [{ kind: 'queue', from, to: began ?? to }];
  if (began !== null) stretches.push({ kind: 'child', from: began, to });
  const { job_id: id, name, status } = job;
  return { kind: 'child', id, name, status, from, to, stretches, job };
}

function toRow(step: JobStep, place: number, requestedAt: number | undefined): StepRow {
  const stretches = stretchesOf(step, requestedAt);
  const from = stretches[0]?.from ?? Date.parse(step.started_at);
  const [id, to] = [step.tool_call_id ?? `step ${place}`, parse(step.ended_at)];
  return {
    kind: 'step',
    id,
    name: nameOf(step),
    status: step.status,
    from,
    to,
    stretches,
    step,
    again: null,
  };
}

function nameOf({ kind, name }: JobStep): string {
  if (kind === 'wait') return name === 'retry' ? 'Wait before retry' : name;
  return kind === 'compact' ? `Compaction (${name})` : name;
}

function stretchesOf(step: JobStep, requestedAt: number | undefined): Stretch[] {
  const [from, first, to] = [Date.parse(step.started_at), parse(step.first_token_at), parse(step.ended_at)];
  switch (step.kind) {
    case 'model':
      if (first === null) return [{ kind: 'first', from, to }];
      return [
        { kind: 'first', from, to: first },
        { kind: 'model', from: first, to },
      ];
    case 'compact':
      return [{ kind: 'compact', from, to }];
    case 'wait':
      return [{ kind: 'retry', from, to }];
    case 'tool':
      return stretchesOfCall(step, requestedAt ?? from);
  }
}

function stretchesOfCall(step: JobStep, requestedAt: number): Stretch[] {
  const to = parse(step.ended_at);
  const runs = step.executions ?? [];
  const ran = runs.map(({ began_at, ended_at }, at): Stretch => {
    // An execution cut off by a crash has no end time; it lasted at most until the next execution started.
    const cutOff = parse(runs[at + 1]?.began_at ?? null) ?? to;
    return { kind: 'tool', from: Date.parse(began_at), to: parse(ended_at) ?? cutOff };
  });
  const waited = (step.waits ?? []).map(toStretch);
  const known = [...waited, ...ran].toSorted((one, other) => one.from - other.from);
  return runs.length > 0 ? known : [...known, ...unknownOf(step, known.at(-1) ?? null, requestedAt, to)];
}

function toStretch({ for: kind, asked_at, ended_at, expires_at }: CallWait): Stretch {
  const stretch = { kind, from: Date.parse(asked_at), to: parse(ended_at) };
  return expires_at === null ? stretch : { ...stretch, expires: Date.parse(expires_at) };
}

/** For a call without a known execution: the stretch after its last wait, if any. */
function unknownOf({ status }: JobStep, last: Stretch | null, requestedAt: number, to: number | null): Stretch[] {
  if (last !== null && (last.to === null || to !== null)) return [];
  const kind = ['running', 'completed', 'failed'].includes(status) ? 'tool' : 'open';
  return [{ kind, from: last?.to ?? requestedAt, to }];
}

/** From the first start to the last end; unfinished rows end now. */
export function extentOf(rows: readonly Row[], now: number): { from: number; to: number } {
  const from = Math.min(...rows.map((row) => row.from));
  const to = Math.max(from + 1, ...rows.map((row) => row.to ?? now));
  return { from, to };
}

function parse(at: string | null): number | null {
  return at === null ? null : Date.parse(at);
}
