// Inputs that no client posted: those of workers that others made, parent notices on those that ended, those of
// schedules, and those that a service enqueued. Each is checked against the script of the asking job, of its schedule or
// of its order, by the same checks as the inputs of clients; and a stop of a worker stops those below it.
import { textOf } from '../../../src/core/conversation/blocks.ts';
import { reportTag, tagIn, type Script } from '../clients/inputs.ts';
import type { StoredContext, StoredJob, StoredMessage } from './stored.ts';
import type { Schedules } from './schedules.ts';
import type { Orders } from './service.ts';
import type { Posted, Stop } from './world.ts';

type Stored = { contexts: StoredContext[]; jobs: StoredJob[]; messages: StoredMessage[] };

/** The highest priority of an input of a client or a worker. */
const PUSHED = 1;
const NORMAL = 5;

/** `swept`: contexts in which a client cancelled all jobs. */
export function inputsOfWorkers(inputs: readonly Posted[], stored: Stored, swept: readonly string[]): Posted[] {
  const scripts = scriptsIn(inputs);
  const jobs = new Map(stored.jobs.map((job) => [job.id, job]));
  const messages = new Map(stored.messages.map((message) => [message.id, message]));
  const contexts = new Map(stored.contexts.map((context) => [context.id, context]));
  return stored.jobs.flatMap((job): Posted[] => {
    if (job.notice_of_job_id !== null) {
      const tag = reportTag(job.notice_of_job_id);
      // A wait that returns the same end withdraws the queued notice.
      const isTakenBack = job.started_at === null || swept.includes(job.context_id);
      return [inputOf(job, 'report', tag, { ...REPORT, text: tag }, isTakenBack, job.priority)];
    }
    const parent = jobs.get(job.parent_job_id ?? '');
    const message = messages.get(job.message_id ?? '');
    const tag = message === undefined ? null : tagIn(textOf(message.content));
    const script = scripts.get(tag ?? '');
    if (parent === undefined || tag === null || script === undefined) return [];
    const isDetached = contexts.get(job.context_id)?.detached === true;
    const cancelled = !isDetached && endsWith(parent, jobs, contexts);
    return [inputOf(job, 'spawn', tag, script, cancelled, Math.max(PUSHED, parent.priority))];
  });
}

/** Those of the default tenant, by the run log. */
export function inputsOfSchedules({ made, runs }: Schedules, stored: Stored, swept: readonly string[]): Posted[] {
  const scripts = new Map(made.flatMap(({ id, input }) => (input === null ? [] : [[id, input] as const])));
  const jobs = new Map(stored.jobs.map((job) => [job.id, job]));
  return runs.flatMap(({ schedule_id: id, job_id: jobId }) => {
    const [input, job] = [scripts.get(id), jobs.get(jobId ?? '')];
    if (input === undefined || job === undefined) return [];
    return [inputOf(job, 'schedule', input.tag, input.script, swept.includes(job.context_id), NORMAL)];
  });
}

/**
 * Those of the service. What has not committed must not be stored, and counts as refused; so does what the platform
 * refused when the row arrived.
 */
export function inputsOfOrders(orders: Orders, stored: Stored, swept: readonly string[]): Posted[] {
  const jobs = new Map(stored.jobs.map((job) => [job.id, job]));
  const committed = new Set(orders.committed);
  const refused = new Map(orders.submissions.map(({ id, code }) => [id, code]));
  return orders.made.map(({ jobId, messageId, contextId, tag, script }): Posted => {
    const job = jobs.get(jobId);
    const isSwept = swept.includes(contextId);
    if (job !== undefined && committed.has(jobId)) return inputOf(job, 'order', tag, script, isSwept, NORMAL);
    const place = { jobId, messageId, contextId, branch: null };
    const code = committed.has(jobId) ? refused.get(jobId) : ROLLED_BACK;
    return posted(place, 'order', tag, script, isSwept, NORMAL, code ?? null);
  });
}

/** Each as if a client had stopped the worker below by itself. */
export function stopsBelow(stops: readonly Stop[], contexts: readonly StoredContext[]): Stop[] {
  const known = new Map(contexts.map((context) => [context.id, context]));
  return contexts.flatMap(({ id }) => {
    const above = attachedAbove(id, known);
    return stops.filter(({ contextId }) => above.includes(contextId)).map((stop) => ({ ...stop, contextId: id }));
  });
}

/** The model's answer to a notice: the notice. */
const REPORT: Script = {
  shape: 'plain',
  text: '',
  plays: [{ calls: [], last: true }],
  ends: ['completed'],
  maxSteps: null,
  deadlineMs: null,
  children: [],
};

/** By the tag of the worker's input, however deep it is. */
function scriptsIn(inputs: readonly Posted[]): Map<string, Script> {
  const all = new Map<string, Script>();
  const add = ({ children }: Script): void => {
    for (const { tag, script } of children) {
      all.set(tag, script);
      add(script);
    }
  };
  for (const { script } of inputs) add(script);
  return all;
}

/** A request ended this job, or one above it that this one ends with. */
function endsWith(
  job: StoredJob,
  jobs: ReadonlyMap<string, StoredJob>,
  contexts: ReadonlyMap<string, StoredContext>,
): boolean {
  if (job.status === 'cancelled' || job.status === 'interrupted') return true;
  const parent = jobs.get(job.parent_job_id ?? '');
  if (parent === undefined || contexts.get(job.context_id)?.detached === true) return false;
  return endsWith(parent, jobs, contexts);
}

function attachedAbove(id: string, contexts: ReadonlyMap<string, StoredContext>): string[] {
  const context = contexts.get(id);
  if (context === undefined || context.detached || context.parent_context_id === null) return [];
  return [context.parent_context_id, ...attachedAbove(context.parent_context_id, contexts)];
}

/** The code of an input whose transaction has not committed. */
const ROLLED_BACK = 'rolled_back';

function inputOf(
  { id, message_id: messageId, context_id: contextId, branch }: StoredJob,
  origin: Posted['origin'],
  tag: string,
  script: Script,
  cancelled: boolean,
  priority: number,
): Posted {
  return posted({ jobId: id, messageId, contextId, branch }, origin, tag, script, cancelled, priority, null);
}

type Place = { jobId: string; messageId: string | null; contextId: string; branch: string | null };

/** The times of sending and accepting are not known: its position is the stored one. `code`: it was refused. */
function posted(
  { jobId, messageId, contextId, branch }: Place,
  origin: Posted['origin'],
  tag: string,
  script: Script,
  cancelled: boolean,
  priority: number,
  code: string | null,
): Posted {
  return {
    origin,
    tag,
    key: tag,
    contextId,
    isForNewWorker: false,
    delivery: 'queue',
    priority,
    branch: null,
    revision: null,
    delay: null,
    webhook: null,
    script,
    firstSentAt: -Infinity,
    outcome:
      code === null
        ? { kind: 'accepted', at: Infinity, jobId, messageId, after: Infinity, branch }
        : { kind: 'refused', code, at: Infinity },
    cancelled,
    edited: null,
    withdrawn: null,
    reordered: false,
  };
}
