/**
 * Converts a job and its steps to rows; each row consists of time stretches. The attempts of a model call, and the waits
 * before them, are one row. Times are milliseconds since 1970.
 */
import type { ChildJob, Job, JobStep } from 'nightshift/client';
import { stretchWords, timelineWords } from '../../../../words.ts';
import { isWait, parse, stretchesOfCall, stretchesOfTool, type Stretch } from './stretches.ts';

type Place = {
  /** Unique within its job. */
  id: string;
  name: string;
  status: string;
  from: number;
  to: number | null;
  stretches: Stretch[];
};

export type StepRow = Place & {
  kind: 'step';
  /** Of a model call: its last attempt, or the wait before its first one. */
  step: JobStep;
  /** Of a model call: the attempts that failed, without `step`. */
  failed: readonly JobStep[];
};

export type ChildRow = Place & { kind: 'child'; job: ChildJob };

export type Row = (Place & { kind: 'queue' }) | StepRow | ChildRow;

/** What the rows need of their job; child jobs have no delay. */
export type RowsOwner = Pick<Job, 'status' | 'created_at' | 'started_at' | 'finished_at'> & {
  starts_at?: string | null;
};

/** `firstTokenAt`: of the model call in progress; null: none came, or it is not known. */
export function rowsOf(job: RowsOwner, steps: readonly JobStep[], firstTokenAt: number | null = null): Row[] {
  const rows = afterQueues(stepRows(steps, firstTokenAt));
  return [
    queueRow(job, rows[0]?.from ?? null),
    ...rows.flatMap((row): Row[] => (row.step.child === null ? [row] : [row, childRow(row.step.child)])),
  ];
}

function stepRows(steps: readonly JobStep[], firstTokenAt: number | null): StepRow[] {
  // A tool call is requested when the answer that contains it is complete.
  const requestedAt = new Map<string | null, number>();
  const rows: StepRow[] = [];
  let call: JobStep[] = [];
  const close = (at: number): void => {
    const [only] = call;
    const place = at - call.length;
    if (only !== undefined && call.length === 1) rows.push(madeOnce(only, () => callRow([only], place, firstTokenAt)));
    else if (only !== undefined) rows.push(callRow(call, place, firstTokenAt));
    call = [];
  };
  for (const [at, step] of steps.entries()) {
    if (step.kind === 'model' || step.kind === 'wait') {
      call.push(step);
      if (step.kind === 'model' && step.message_id !== null && step.ended_at !== null)
        requestedAt.set(step.message_id, Date.parse(step.ended_at));
      if (step.kind === 'model' && step.status !== 'failed') close(at + 1);
      continue;
    }
    close(at);
    const make = (): StepRow =>
      step.kind === 'tool' ? toolRow(step, at, requestedAt.get(step.message_id)) : compactRow(step, at);
    rows.push(madeOnce(step, make));
  }
  close(steps.length);
  return rows;
}

const made = new WeakMap<JobStep, StepRow>();

/** A step that has ended is the same object as long as it is in the cache, and so is its row. */
function madeOnce(step: JobStep, make: () => StepRow): StepRow {
  const known = made.get(step);
  if (known !== undefined) return known;
  const row = make();
  if (step.ended_at !== null) made.set(step, row);
  return row;
}

/** `steps`: the attempts of one model call, and the waits before them. */
function callRow(steps: readonly JobStep[], place: number, firstTokenAt: number | null): StepRow {
  const models = steps.filter(({ kind }) => kind === 'model');
  const last = steps.at(-1);
  const step = models.at(-1) ?? last;
  if (last === undefined || step === undefined) throw new Error('A model call has at least one step.');
  const stretches = steps.flatMap((one, at) => stretchesOfCall(one, steps[at - 1] ?? null, firstTokenAt));
  return {
    ...placed(`#${place}`, last, stretches),
    name: step.kind === 'wait' ? stretchWords[step.name === 'throttle' ? 'throttle' : 'retry'] : step.name,
    kind: 'step',
    step,
    failed: models.filter((one) => one !== step),
  };
}

function toolRow(step: JobStep, place: number, requestedAt: number | undefined): StepRow {
  const stretches = stretchesOfTool(step, requestedAt ?? Date.parse(step.started_at));
  return { ...placed(step.tool_call_id ?? `#${place}`, step, stretches), kind: 'step', step, failed: [] };
}

function compactRow(step: JobStep, place: number): StepRow {
  const stretch: Stretch = { kind: 'compact', from: Date.parse(step.started_at), to: parse(step.ended_at) };
  return {
    ...placed(`#${place}`, step, [stretch]),
    name: timelineWords.row.compaction(step.name),
    kind: 'step',
    step,
    failed: [],
  };
}

function placed(id: string, last: JobStep, stretches: Stretch[]): Place {
  const from = stretches[0]?.from ?? Date.parse(last.started_at);
  return { id, name: last.name, status: last.status, from, to: parse(last.ended_at), stretches };
}

/** A model call after a wait that gave the slot back waited for a slot. */
function afterQueues(rows: readonly StepRow[]): StepRow[] {
  let last: Stretch | null = null;
  return rows.map((row) => {
    const queue = row.step.tool_call_id === null ? queueAfter(last, row.from) : null;
    for (const stretch of row.stretches) if (endOf(stretch) >= endOf(last)) last = stretch;
    return queue === null ? row : { ...row, from: queue.from, stretches: [queue, ...row.stretches] };
  });
}

function queueAfter(last: Stretch | null, from: number): Stretch | null {
  if (last === null || last.to === null || !isWait(last.kind) || last.to >= from) return null;
  return { kind: 'queue', from: last.to, to: from };
}

function endOf(stretch: Stretch | null): number {
  return stretch === null ? -Infinity : (stretch.to ?? Infinity);
}

/** What comes before the first step: a delayed job joins the queue at its start, unless it ended before. */
function queueRow(job: RowsOwner, first: number | null): Row {
  const { status, created_at, starts_at = null, started_at, finished_at } = job;
  const created = Date.parse(created_at);
  const start = parse(starts_at) ?? created;
  const ended = started_at === null ? parse(finished_at) : null;
  if (status === 'delayed' || (ended !== null && ended < start))
    return beforeSteps('delay', { from: created, to: ended });
  const taken = parse(started_at) ?? ended;
  // A model call can start before the start of the job is recorded.
  const to = taken === null ? null : Math.max(start, Math.min(taken, first ?? taken));
  return beforeSteps('queue', { from: start, to });
}

function beforeSteps(kind: 'delay' | 'queue', { from, to }: Pick<Stretch, 'from' | 'to'>): Row {
  const status = to !== null ? 'completed' : kind === 'delay' ? 'delayed' : 'queued';
  return {
    kind: 'queue',
    id: 'queue',
    name: timelineWords.row[kind],
    status,
    from,
    to,
    stretches: [{ kind, from, to }],
  };
}

function childRow(job: ChildJob): ChildRow {
  const from = Date.parse(job.created_at);
  const [began, to] = [parse(job.started_at), parse(job.finished_at)];
  const stretches: Stretch[] = [{ kind: 'queue', from, to: began ?? to }];
  if (began !== null) stretches.push({ kind: job.status === 'failed' ? 'failed' : 'child', from: began, to });
  const { job_id: id, name, status } = job;
  return { kind: 'child', id, name, status, from, to, stretches, job };
}

/** From the first start to the last end; unfinished rows end now. */
export function extentOf(rows: Iterable<Row>, now: number): { from: number; to: number } {
  let [from, to] = [Infinity, -Infinity];
  for (const row of rows) {
    from = Math.min(from, row.from);
    to = Math.max(to, row.to ?? now);
  }
  return Number.isFinite(from) ? { from, to: Math.max(from + 1, to) } : { from: now - 1, to: now };
}
