// No job lost, none duplicated: each accepted key is one job with its input, each job is of an accepted key.
import { textOf } from '../../../src/core/conversation/blocks.ts';
import { expectedOf, type ExpectedJob } from '../world/expected-jobs.ts';
import { coursesOf, type Course } from '../world/expected-branches.ts';
import { tagIn } from '../clients/inputs.ts';
import { groupBy, type Check, type Posted, type Violation, type World } from '../world/world.ts';
import type { StoredJob, StoredMessage } from '../world/stored.ts';
import { reporter } from './violation.ts';

const violation = reporter('accepted');

export const accepted: Check = {
  name: 'accepted',
  find(world) {
    const jobs = new Map(world.jobs.map((job) => [job.id, job]));
    const asked = expectedOf(world);
    const parts = new Map(asked.map(({ input, as }) => [input, as]));
    const courses = coursesOf(world);
    const texts = groupBy(
      world.messages.filter(({ role }) => role === 'user'),
      ({ content }) => tagIn(textOf(content)),
    );
    return [
      ...world.inputs.flatMap((input) =>
        inputFaults(input, parts.get(input) ?? null, jobs, texts.get(input.tag) ?? []),
      ),
      ...asked.flatMap((one) => branchFaults(one, jobs.get(one.jobId), courses.get(one.input.contextId))),
      ...strangers(world),
      ...world.repeats.map(({ tag, first, again }) =>
        violation(`the same key was answered differently: ${first}, then ${again}`, null, tag),
      ),
    ];
  },
};

function inputFaults(
  { tag, contextId, outcome, delivery, priority, revision, edited, withdrawn, reordered }: Posted,
  as: ExpectedJob['as'] | null,
  jobs: ReadonlyMap<string, StoredJob>,
  stored: readonly StoredMessage[],
): Violation[] {
  if (outcome.kind === 'pending' || outcome.kind === 'unknown')
    return [violation('an input never got through', contextId, tag)];
  if (outcome.kind === 'refused') {
    return stored.length === 0 ? [] : [violation('a refused input is stored', contextId, tag)];
  }
  const job = jobs.get(outcome.jobId);
  if (job === undefined) return [violation('an accepted input has no job', contextId, tag, outcome.jobId)];
  const [message] = stored;
  const faults: Violation[] = [];
  const note = (what: string): void => void faults.push(violation(what, contextId, tag, job.id));
  if (job.context_id !== contextId) note('the job is of another context');
  // The answer to a question is the result of its call, and the input of a retry exists already.
  if (as === 'reply') return faults;
  const times = revision?.kind === 'regenerate' ? 0 : 1;
  if (stored.length !== times) note(`the input is stored ${stored.length} times`);
  if (message !== undefined && message.id !== outcome.messageId) note('the input is not the returned one');
  if (withdrawn === 'taken' && message !== undefined && message.status !== 'withdrawn') {
    note('it was withdrawn, and is not');
  }
  if (delivery !== 'steer' && job.message_id !== outcome.messageId) note('the job answers another input');
  if (delivery === 'queue' && !reordered && job.priority !== priority) note(`its priority became ${job.priority}`);
  const isEdited = message !== undefined && textOf(message.content).startsWith('# edited');
  if (edited === 'taken' && !isEdited) note('its change was accepted and is missing');
  if (edited !== 'taken' && isEdited) note('its change was refused and is stored');
  return faults;
}

/** A job works on the branch that was named, that was made for it, or that was active when it was accepted. */
function branchFaults(
  { input, jobId, as }: ExpectedJob,
  job: StoredJob | undefined,
  course: Course | undefined,
): Violation[] {
  const { outcome, branch, contextId, tag } = input;
  if (outcome.kind !== 'accepted' || as !== 'leader' || job === undefined) return [];
  const wanted = outcome.branch ?? branch ?? course?.activeAt(outcome.after);
  return job.branch === wanted
    ? []
    : [violation(`it works on ${job.branch}, and was accepted for ${wanted}`, contextId, tag, jobId)];
}

/** Jobs without a key, and jobs with two keys. */
function strangers({ inputs, jobs }: World): Violation[] {
  const keys = groupBy(inputs, ({ outcome }) => (outcome.kind === 'accepted' ? outcome.jobId : null));
  return jobs.flatMap((job) => {
    if (job.kind === 'compact') return [];
    const own = keys.get(job.id) ?? [];
    const leaders = own.filter(({ outcome }) => outcome.kind === 'accepted' && outcome.messageId === job.message_id);
    if (leaders.length === 0) return [violation('a job of no accepted key', job.context_id, job.id)];
    if (leaders.length > 1) {
      return [violation('one job for several keys', job.context_id, job.id, ...leaders.map(({ tag }) => tag))];
    }
    return [];
  });
}
