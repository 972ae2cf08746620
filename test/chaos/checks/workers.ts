// Workers that workers make: each spawn made one, a waiting call gets the true result, others are notified once, and no
// worker continues for a job that has ended by request.
import { isToolResult, isToolUse, textOf } from '../../../src/core/conversation/blocks.ts';
import { SPAWN, WAIT } from '../clients/inputs.ts';
import { groupBy, isEnded, type Check, type Violation, type World } from '../world/world.ts';
import type { StoredCall, StoredContext, StoredJob, StoredMessage } from '../world/stored.ts';
import { reporter } from './violation.ts';

const violation = reporter('workers');

/** Milliseconds in which the end of a job reaches those below it, whatever fails meanwhile. */
const REACH_MS = 60_000;

type Sight = {
  jobs: Map<string, StoredJob>;
  messages: Map<string, StoredMessage>;
  contexts: Map<string, StoredContext>;
  /** By call: the result for the model, and the arguments of the model. */
  results: Map<string, string[]>;
  asked: Map<string, Record<string, unknown>>;
  /** Workers whose end a wait returned, by context of the waiting call. */
  waitedFor: Set<string>;
};

export const workers: Check = {
  name: 'workers',
  find(world) {
    const sight = sightOf(world);
    const made = groupBy(world.jobs, ({ parent_tool_call_id: id }) => id);
    const reports = groupBy(world.jobs, ({ notice_of_job_id: id }) => id);
    return [
      ...world.calls.flatMap((call) => {
        if (call.name === SPAWN) return spawnFaults(call, made.get(call.id) ?? [], sight);
        return call.name === WAIT ? waitFaults(call, sight) : [];
      }),
      ...world.jobs.flatMap((job) => [
        ...(job.parent_tool_call_id === null ? [] : reportFaults(job, reports.get(job.id) ?? [], sight)),
        ...endFaults(job, sight),
        ...(job.cascade === null ? [] : [violation('its end did not cascade to all below', job.context_id, job.id)]),
        ...(job.parent_notice === null
          ? []
          : [violation(`its notice is still ${job.parent_notice}`, job.context_id, job.id)]),
      ]),
    ];
  },
};

function sightOf({ jobs, messages, contexts, calls }: World): Sight {
  const results = new Map<string, string[]>();
  const asked = new Map<string, Record<string, unknown>>();
  for (const { content } of messages) {
    for (const block of content) {
      if (isToolUse(block)) asked.set(block.id, recordOf(block.input));
      if (isToolResult(block) && typeof block.content === 'string')
        results.set(block.tool_use_id, [...(results.get(block.tool_use_id) ?? []), block.content]);
    }
  }
  const waitedFor = new Set(
    calls
      .filter(({ name }) => name === WAIT)
      .flatMap(({ id, context_id: context }) =>
        entriesIn(results.get(id)?.[0])
          .filter(({ status }) => ENDS.includes(status))
          .map(({ worker_id: worker }) => `${context} ${worker}`),
      ),
  );
  return {
    jobs: new Map(jobs.map((job) => [job.id, job])),
    messages: new Map(messages.map((message) => [message.id, message])),
    contexts: new Map(contexts.map((context) => [context.id, context])),
    results,
    asked,
    waitedFor,
  };
}

const ENDS: readonly string[] = ['completed', 'failed', 'cancelled', 'interrupted', 'incomplete'];

/** A worker for each executed call, and its end in the call's result where it was waited for. */
function spawnFaults(call: StoredCall, made: readonly StoredJob[], sight: Sight): Violation[] {
  const faults: Violation[] = [];
  const note = (what: string, ...ids: string[]): void =>
    void faults.push(violation(what, call.context_id, call.id, ...ids));
  const [child] = made;
  if (made.length > 1) note(`a call made ${made.length} workers`, ...made.map(({ id }) => id));
  const results = sight.results.get(call.id) ?? [];
  if (results.length > 1) note(`a call has ${results.length} results`);
  const parsed = recordIn(results[0]);
  if (child === undefined) {
    if (call.status === 'completed' || parsed?.['job_id'] !== undefined) note('a call is done and made no worker');
    return faults;
  }
  if (results.length === 0) return faults;
  const waits = sight.asked.get(call.id)?.['wait'] !== false;
  // A job with a stop request of its own does not wait any more.
  if (call.status === 'cancelled') return faults;
  if (parsed?.['job_id'] !== child.id || parsed['worker_id'] !== sight.contexts.get(child.context_id)?.worker_id)
    note('the result is not of the worker that was made', child.id);
  else if (!waits) {
    if (parsed['status'] !== 'queued') note(`it did not wait, and received ${String(parsed['status'])}`, child.id);
  } else if (parsed['status'] !== child.status || parsed['output'] !== outputOf(child, sight))
    note(`it waited, and received a wrong status: ${String(parsed['status'])}`, child.id);
  else if ((call.status === 'completed') !== (child.status === 'completed'))
    note(`the call is ${call.status}, its worker ${child.status}`, child.id);
  return faults;
}

/** One line for each named worker, in that order, each true of a job of that worker. */
function waitFaults(call: StoredCall, sight: Sight): Violation[] {
  const [result] = sight.results.get(call.id) ?? [];
  if (call.status !== 'completed' || result === undefined) return [];
  const input = sight.asked.get(call.id) ?? {};
  const wanted = input['worker_ids'];
  const parsed = entriesIn(result);
  const note = (what: string, ...ids: string[]): Violation => violation(what, call.context_id, call.id, ...ids);
  if (!Array.isArray(wanted) || wanted.join() !== parsed.map(({ worker_id: id }) => id).join())
    return [note('the results name other workers than were waited for', ...parsed.map(({ worker_id: id }) => id))];
  const ended = parsed.filter(({ status }) => ENDS.includes(status));
  const enough = input['mode'] === 'any' ? 1 : parsed.length;
  const jobs = [...sight.jobs.values()];
  return [
    ...(ended.length < enough && input['timeout_s'] === undefined
      ? [note(`it waited for ${enough}, and ${ended.length} had ended`)]
      : []),
    ...ended
      .filter(
        ({ worker_id: worker, status, output }) =>
          !jobs.some(
            (job) =>
              sight.contexts.get(job.context_id)?.worker_id === worker &&
              job.status === status &&
              outputOf(job, sight) === output,
          ),
      )
      .map(({ worker_id: worker, status }) => note(`a worker is shown as ${status}, and is not`, worker)),
  ];
}

/** Notified once, unless a wait returned it, or the asking job had a stop request. */
function reportFaults(job: StoredJob, reports: readonly StoredJob[], sight: Sight): Violation[] {
  const faults: Violation[] = [];
  const note = (what: string): void =>
    void faults.push(violation(what, job.context_id, job.id, ...reports.map(({ id }) => id)));
  const parent = sight.jobs.get(job.parent_job_id ?? '');
  const waits = sight.asked.get(job.parent_tool_call_id ?? '')?.['wait'] !== false;
  if (parent === undefined) return [violation('a worker that no call made', job.context_id, job.id)];
  const worker = sight.contexts.get(job.context_id)?.worker_id;
  const isExcused =
    parent.status === 'cancelled' ||
    parent.status === 'interrupted' ||
    sight.waitedFor.has(`${parent.context_id} ${worker}`);
  if (waits && reports.length > 0) note('its end was waited for, and reported');
  if (!waits && reports.length > 1) note(`its end was reported ${reports.length} times`);
  if (!waits && reports.length === 0 && isEnded(job.status) && !isExcused) note('its end was reported to no context');
  for (const report of reports) {
    const message = sight.messages.get(report.message_id ?? '');
    const text = message === undefined ? '' : textOf(message.content);
    if (report.context_id !== parent.context_id) note('its end was reported to another context');
    if (!text.includes(` ended: ${job.status}.`) || !text.endsWith(outputOf(job, sight) ?? ''))
      note('its notice is wrong');
  }
  return faults;
}

/** Where the job that asked for it has ended by request, it ends too, unless it is detached. */
function endFaults(job: StoredJob, sight: Sight): Violation[] {
  const parent = sight.jobs.get(job.parent_job_id ?? '');
  if (parent === undefined || job.parent_tool_call_id === null) return [];
  const isDetached = sight.contexts.get(job.context_id)?.detached === true;
  if (isDetached)
    return job.stop_kind === null
      ? []
      : [violation('it is detached, and was ended with its parent', job.context_id, job.id)];
  if ((parent.status !== 'cancelled' && parent.status !== 'interrupted') || job.stop_kind !== null) return [];
  const late = (job.finished_at ?? Infinity) - (parent.finished_at ?? Infinity);
  return late > REACH_MS
    ? [violation('it continued after the stop request of the job that asked for it', job.context_id, job.id, parent.id)]
    : [];
}

function outputOf(job: StoredJob, { messages }: Sight): string | null {
  const message = messages.get(job.output_message_id ?? '');
  return message === undefined ? null : textOf(message.content);
}

type Entry = { worker_id: string; status: string; output: string | null };

function entriesIn(text: string | undefined): Entry[] {
  const value = parse(text);
  return Array.isArray(value) ? value.map(recordOf).map(entryOf) : [];
}

function entryOf({ worker_id: id, status, output }: Record<string, unknown>): Entry {
  return {
    worker_id: String(id),
    status: String(status),
    output: typeof output === 'string' ? output : null,
  };
}

function recordIn(text: string | undefined): Record<string, unknown> | null {
  const value = parse(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function parse(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return null;
  }
}
