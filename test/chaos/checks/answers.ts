// Each input is answered at most once, and exactly once where its job completed, with the answers of its script.
import { isToolUse, textOf } from '../../../src/core/conversation/blocks.ts';
import { expectedByJob, expectedOf, type ExpectedJob } from '../world/expected-jobs.ts';
import { tagIn, type Play } from '../clients/inputs.ts';
import { groupBy, isEnded, type Check, type Violation } from '../world/world.ts';
import type { StoredJob, StoredMessage } from '../world/stored.ts';
import { reporter } from './violation.ts';

const violation = reporter('answers');

export const answers: Check = {
  name: 'answers',
  find(world) {
    const { jobs, messages } = world;
    const all = expectedOf(world);
    const reported = messages.filter(
      ({ role, type, seq }) => role === 'assistant' && type !== 'partial' && seq !== null,
    );
    const visible = reported.filter(({ status }) => status === 'completed');
    const ofTag = groupBy(visible, ({ content }) => tagIn(textOf(content)));
    const ofJob = groupBy(reported, ({ job_id: id }) => id);
    const asked = expectedByJob(all);
    const times = groupBy(
      all.filter(({ as }) => as !== 'reply'),
      ({ tag }) => tag,
    );
    const known = new Set(world.inputs.map(({ tag }) => tag));
    return [
      ...[...ofTag].flatMap(([tag, list]) => [
        ...answeredTooOften(tag, list, times.get(tag)?.length ?? 0),
        ...(known.has(tag) ? [] : [violation('an answer to no input', list[0]?.context_id ?? null, tag)]),
      ]),
      ...jobs.flatMap((job) => jobFaults(job, asked.get(job.id) ?? [], ofJob.get(job.id) ?? [], ofTag)),
    ];
  },
};

/** Once by each job that had to answer it. */
function answeredTooOften(tag: string, reported: readonly StoredMessage[], wanted: number): Violation[] {
  const mostOfOneJob = Math.max(0, ...[...groupBy(reported, ({ job_id: id }) => id).values()].map((own) => own.length));
  if (mostOfOneJob <= 1 && reported.length <= Math.max(1, wanted)) return [];
  const ids = reported.map(({ id }) => id);
  return [violation(`answered ${reported.length} times`, reported[0]?.context_id ?? null, tag, ...ids)];
}

function jobFaults(
  job: StoredJob,
  asked: readonly ExpectedJob[],
  reported: readonly StoredMessage[],
  ofTag: ReadonlyMap<string, StoredMessage[]>,
): Violation[] {
  const faults: Violation[] = [];
  const note = (what: string, ...ids: string[]): void =>
    void faults.push(violation(what, job.context_id, job.id, ...ids));
  if (job.steps !== reported.length) note(`it counts ${job.steps} steps, ${reported.length} answers are stored`);
  const inOrder = reported.toSorted((a, b) => (a.seq ?? 0) - (b.seq ?? 0));
  const last = inOrder.at(-1);
  if (job.kind === 'compact')
    return [...faults, ...reported.map(({ id }) => violation('a compaction answered', job.context_id, job.id, id))];
  if (job.status === 'completed') {
    if (last === undefined || job.output_message_id !== last.id) note('its output is not its last answer');
    if (last?.status === 'retracted') note('it completed, and its answer was retracted');
    if (!asked.some(({ tag }) => ofTag.get(tag)?.some(({ id }) => id === last?.id)))
      note('its answer is to another input');
  } else if (isEnded(job.status) && job.output_message_id !== null) note('it did not complete and has an output');
  const [only] = asked;
  if (asked.length === 1 && only !== undefined) {
    const fault = playFault(only.script.plays, inOrder, job.status === 'completed');
    if (fault !== null) note(fault, only.tag);
  }
  return faults;
}

/** The answers are a beginning of the script, and all of it where the job completed. */
function playFault(plays: readonly Play[], reported: readonly StoredMessage[], whole: boolean): string | null {
  const is = reported.map(({ content }) =>
    lineOf(
      content.filter(isToolUse).map(({ name }) => name),
      tagIn(textOf(content)) !== null,
    ),
  );
  const wanted = plays.map(({ calls, last }) => lineOf(calls, last));
  if (is.length > wanted.length || (whole && is.length < wanted.length)) {
    return `answered ${is.join(' | ')} where the script has ${wanted.join(' | ')}`;
  }
  const at = is.findIndex((line, index) => line !== wanted[index]);
  return at === -1 ? null : `answered ${is.join(' | ')} where the script has ${wanted.join(' | ')}`;
}

function lineOf(calls: readonly string[], last: boolean): string {
  return [...calls, ...(last ? ['the last word'] : [])].join(', ');
}
