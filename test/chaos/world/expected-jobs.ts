// The result of each accepted input: a job of its own, a part of a running one, or the answer to a question; and its
// task, which for a retry is that of the earlier input.
import { textOf } from '../../../src/core/conversation/blocks.ts';
import type { FinishedStatus } from '../../../src/core/run/job.ts';
import { tagIn, type Script } from '../clients/inputs.ts';
import { coursesOf } from './expected-branches.ts';
import { groupBy, type Posted, type World } from './world.ts';

export type ExpectedJob = {
  input: Posted;
  jobId: string;
  messageId: string | null;
  as: 'leader' | 'part' | 'reply';
  /** The answered input, and its expected result: its script as far as this job has to execute it. */
  tag: string;
  script: Script;
};

export function expectedOf(world: World): ExpectedJob[] {
  const leaders = new Map(world.jobs.map((job) => [job.id, job.message_id]));
  const replies = new Set(world.calls.filter(({ reply }) => reply !== null).map(({ id }) => id));
  const again = answeredAgain(world);
  return world.inputs.flatMap((input): ExpectedJob[] => {
    const { outcome } = input;
    if (outcome.kind !== 'accepted') return [];
    const { jobId, messageId } = outcome;
    const isReply = messageId !== null && replies.has(messageId);
    const as = isReply ? 'reply' : leaders.get(jobId) === messageId ? 'leader' : 'part';
    const { tag, script } = again.get(input) ?? input;
    return [{ input, jobId, messageId, as, tag, script: within(script) }];
  });
}

/** By job; without answers to its questions. */
export function expectedByJob(asked: readonly ExpectedJob[]): Map<string, ExpectedJob[]> {
  return groupBy(
    asked.filter(({ as }) => as !== 'reply'),
    ({ jobId }) => jobId,
  );
}

/** As far as its limit of steps allows. */
function within(script: Script): Script {
  return { ...script, plays: script.plays.slice(0, script.maxSteps ?? Infinity) };
}

/**
 * For each retry: the last input on the branch that was made for it, when its job begins, and the rest of its script.
 * An input that has a higher priority, or interrupts, may have come there first, and may have ended in the middle: the
 * retry continues from there, with its own limits.
 */
function answeredAgain(world: World): Map<Posted, Pick<Posted, 'tag' | 'script'>> {
  const courses = coursesOf(world);
  const byTag = new Map(world.inputs.map((input) => [input.tag, input]));
  const begun = new Map(
    world.events.filter(({ name }) => name === 'JobStarted').map(({ data, seq }) => [data['job_id'], seq] as const),
  );
  return new Map(
    world.inputs.flatMap((input): [Posted, Pick<Posted, 'tag' | 'script'>][] => {
      const { revision, outcome, contextId } = input;
      if (revision?.kind !== 'regenerate' || outcome.kind !== 'accepted') return [];
      const birth = courses
        .get(contextId)
        ?.births.findLast(({ branch, seq }) => branch === outcome.branch && seq <= outcome.after);
      const until = begun.get(outcome.jobId) ?? Infinity;
      const stood = (birth?.line ?? []).filter(({ status, seq }) => status === 'completed' && (seq ?? 0) < until);
      const at = stood.findLastIndex(({ role }) => role === 'user');
      const meant = byTag.get(tagIn(textOf(stood[at]?.content ?? [])) ?? '');
      if (meant === undefined) return [];
      const answered = stood.slice(at).filter(({ role }) => role === 'assistant').length;
      return [[input, { tag: meant.tag, script: rest(meant.script, answered, input.script.maxSteps) }]];
    }),
  );
}

/** The rest of a script of which so many answers exist, for a job with a limit of its own. */
function rest(script: Script, answered: number, maxSteps: Script['maxSteps']): Script {
  const plays = script.plays.slice(answered);
  const isCutOff = maxSteps !== null && plays.length > maxSteps;
  const ends: FinishedStatus[] = plays.length === 0 ? script.ends : [isCutOff ? 'incomplete' : 'completed'];
  return { ...script, plays, ends, maxSteps, deadlineMs: null };
}
