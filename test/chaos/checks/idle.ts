// Nothing is stuck: all contexts are idle, nothing waits in them, and their counters equal the stored rows.
import { parseTurn } from '../../../src/core/conversation/turn.ts';
import { coursesOf, type Course } from '../world/expected-branches.ts';
import { groupBy, isEnded, type Check, type Violation } from '../world/world.ts';
import type { StoredBranch, StoredContext, StoredEvent, StoredJob, StoredMessage } from '../world/stored.ts';
import { reporter } from './violation.ts';

const violation = reporter('idle');

export const idle: Check = {
  name: 'idle',
  find(world) {
    const { contexts, jobs, messages, unsettled } = world;
    const courses = coursesOf(world);
    const summaries = summariesIn(world.events);
    const made = groupBy(messages, ({ context_id: id }) => id);
    const ofContext = groupBy(jobs, ({ context_id: id }) => id);
    const ofJob = groupBy(messages, ({ job_id: id }) => id);
    const ended = new Map(jobs.map(({ id, status }) => [id, isEnded(status)]));
    return [
      ...unsettled.map((what) => violation(`not idle in time: ${what}`, null)),
      ...contexts.flatMap((context) => [
        ...restFaults(context, ofContext.get(context.id) ?? []),
        ...counterFaults(context, made.get(context.id) ?? [], summaries, courses.get(context.id)),
      ]),
      ...world.branches.flatMap((branch) => branchFaults(branch, made.get(branch.context_id) ?? [], summaries)),
      ...messages
        .filter(({ status, job_id: job }) => status === 'queued' && (job === null || ended.get(job) !== false))
        .map(({ id, context_id: context, job_id: job }) =>
          violation('a queued input without its job', context, id, job),
        ),
      ...jobs.flatMap((job) =>
        tokenFaults(job, [...(ofJob.get(job.id) ?? []), ...summaries.filter(({ jobId }) => jobId === job.id)]),
      ),
    ];
  },
};

function restFaults(context: StoredContext, jobs: readonly StoredJob[]): Violation[] {
  const queued = jobs.filter(({ status }) => status === 'queued').length;
  const faults: Violation[] = [];
  const note = (what: string): void => void faults.push(violation(what, context.id));
  if (context.lease_owner !== null) note(`still owned by ${context.lease_owner}`);
  if (context.scheduling_status !== 'idle') note(`still ${context.scheduling_status}`);
  if (context.next_check_at !== null) note('a sweep is still due');
  if (!['Idle', 'PermanentFailure', 'Stopped'].includes(context.state)) note(`stays in state ${context.state}`);
  if (context.queued !== queued) note(`counts ${context.queued} queued, ${queued} are`);
  if (context.steers !== 0) note(`counts ${context.steers} inputs that wait to join a job`);
  if (context.failed_claims !== 0) note(`counts ${context.failed_claims} failed claims`);
  return faults;
}

/**
 * Visible messages are counted; usage is summed for all calls, summaries and retracted messages included; a clear
 * resets to 0.
 */
function counterFaults(
  context: StoredContext,
  made: readonly StoredMessage[],
  summaries: readonly Summary[],
  course: Course | undefined,
): Violation[] {
  const active = course?.lines.find((line) => line.end === 'stands' && line.branch === context.active_branch);
  const clearedAt = course?.clearedAt ?? 0;
  const since = made.filter(({ seq }) => seq !== null && seq > clearedAt);
  const written = summaries.filter(({ contextId, seq }) => contextId === context.id && seq > clearedAt);
  // A note of the platform belongs to no turn.
  const turns = (active?.messages ?? [])
    .filter(({ role, status }) => role !== 'system' && status === 'completed')
    .map(({ turn }) => parseTurn(turn ?? '')?.number ?? 0);
  const counts = {
    ...countsOf(since, written),
    turn_count: Math.max(0, ...turns),
    // Of all messages: what was cleared, retracted or withdrawn is still stored.
    stored_bytes: sum(made.map(({ bytes }) => bytes)),
  };
  return countFaults(context, counts, context.id);
}

/** Of the messages that a branch has added since it was made. */
function branchFaults(
  branch: StoredBranch,
  made: readonly StoredMessage[],
  summaries: readonly Summary[],
): Violation[] {
  const after = branch.spans?.at(-1)?.after ?? 0;
  const own = made.filter(({ branch: of, seq }) => of === branch.name && seq !== null && seq > after);
  const written = summaries.filter(
    ({ contextId, branch: of, seq }) => contextId === branch.context_id && of === branch.name && seq > after,
  );
  return countFaults(branch, countsOf(own, written), branch.context_id, branch.name);
}

function countsOf(messages: readonly StoredMessage[], summaries: readonly Summary[]) {
  const answers = messages.filter(({ role, type }) => role === 'assistant' && type !== 'partial');
  const paid = [...answers, ...summaries];
  return {
    message_count: messages.filter(({ status }) => status === 'completed').length,
    request_count: paid.length,
    input_tokens: sum(paid.map((one) => one.input_tokens ?? 0)),
    output_tokens: sum(paid.map((one) => one.output_tokens ?? 0)),
  };
}

function countFaults<Name extends string>(
  counted: Readonly<Record<NoInfer<Name>, number>>,
  stored: Readonly<Record<Name, number>>,
  contextId: string,
  ...ids: string[]
): Violation[] {
  return (Object.keys(stored) as Name[])
    .filter((name) => counted[name] !== stored[name])
    .map((name) => violation(`${name} is ${counted[name]}, stored are ${stored[name]}`, contextId, ...ids));
}

type Paid = Pick<StoredMessage, 'input_tokens' | 'output_tokens'>;

/** A summary by a model: it is no message, and has a cost. */
type Summary = Paid & { contextId: string; branch: string; seq: number; jobId: string };

function summariesIn(events: readonly StoredEvent[]): Summary[] {
  return events.flatMap(({ context_id: contextId, seq, name, data }) => {
    if (name !== 'ContextCompacted' || data['usage'] === null) return [];
    const { branch, job_id: jobId, usage } = data as { branch: string; job_id: string; usage: Paid };
    return [{ contextId, seq, branch, jobId, ...usage }];
  });
}

function tokenFaults(job: StoredJob, made: readonly Paid[]): Violation[] {
  const spent = (name: 'input_tokens' | 'output_tokens'): number => sum(made.map((one) => one[name] ?? 0));
  return (['input_tokens', 'output_tokens'] as const)
    .filter((name) => job[name] !== spent(name))
    .map((name) => violation(`${name} of the job is ${job[name]}, stored are ${spent(name)}`, job.context_id, job.id));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
