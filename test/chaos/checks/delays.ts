// A delayed input starts at the time that it was accepted for, never before, and once.
import { groupBy, type Check, type Posted, type PostDelay, type Violation } from '../world/world.ts';
import type { StoredJob, StoredMessage } from '../world/stored.ts';
import { reporter } from './violation.ts';

const violation = reporter('delays');

/** Milliseconds: times are cut off and rounded. */
const ROUNDING = 5;

export const delays: Check = {
  name: 'delays',
  find({ inputs, jobs, messages, events }) {
    const byId = new Map(jobs.map((job) => [job.id, job]));
    const texts = new Map(messages.map((message) => [message.id, message]));
    const begins = groupBy(
      events.filter(({ name }) => name === 'JobStarted'),
      ({ data }) => String(data['job_id']),
    );
    const delayed = inputs.filter(({ delay }) => delay !== null);
    const started = delayed.filter(({ outcome }) => outcome.kind === 'accepted' && begins.has(outcome.jobId));
    return [
      ...(started.length === 0 ? [violation('no delayed input started', null)] : []),
      ...delayed.flatMap((input) => {
        const { outcome, delay } = input;
        if (outcome.kind !== 'accepted' || delay === null) return [];
        const job = byId.get(outcome.jobId);
        if (job === undefined) return [violation('a delayed input is lost', input.contextId, input.tag)];
        const message = texts.get(outcome.messageId ?? '');
        return timeFaults(input, delay, job, message, begins.get(job.id)?.length ?? 0);
      }),
    ];
  },
};

function timeFaults(
  { contextId, tag }: Posted,
  { seconds, sent, answered }: PostDelay,
  { id, starts_at: from, started_at: begun, finished_at: ended, status }: StoredJob,
  message: StoredMessage | undefined,
  begins: number,
): Violation[] {
  const faults: Violation[] = [];
  const note = (what: string): void => void faults.push(violation(what, contextId, tag, id));
  if (from === null) return [violation('a delayed input has no start', contextId, tag, id)];
  if (from < sent + seconds * 1_000 - ROUNDING) note('its start is earlier than was asked for');
  if (from > (answered ?? Infinity) + seconds * 1_000 + ROUNDING) note('its start is later than was asked for');
  if (begins > 1) note(`it started ${begins} times`);
  if (begun !== null && begun < from - ROUNDING) note(`it started ${from - begun} ms before its time`);
  if (status === 'completed' && (ended ?? 0) < from - ROUNDING) note('it ended before its time');
  const at = message?.completed_at ?? null;
  if (at !== null && at < from - ROUNDING) note('it entered history before its time');
  return faults;
}
