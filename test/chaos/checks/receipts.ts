// Receipts are correct: a stop request came before it was executed, it was executed, and the job wrote nothing after
// it.
import { groupBy, type Check, type Interrupt, type Violation } from '../world/world.ts';
import type { StoredJob, StoredMessage } from '../world/stored.ts';
import { reporter } from './violation.ts';

const violation = reporter('receipts');

export const receipts: Check = {
  name: 'receipts',
  find({ jobs, messages, events, interrupts }) {
    const ends = new Map(
      events.filter(({ name }) => name === 'JobFinished').map(({ data, seq }) => [String(data['job_id']), seq]),
    );
    const made = groupBy(messages, ({ job_id: id }) => id);
    const published = groupBy(interrupts, ({ jobId }) => jobId);
    return jobs.flatMap((job) => {
      const own = made.get(job.id) ?? [];
      return [
        ...stopRequestFaults(job),
        ...lateFaults(job, own, ends.get(job.id) ?? Infinity),
        ...(job.status === 'interrupted' ? modeFaults(job, own, published.get(job.id) ?? []) : []),
      ];
    });
  },
};

function stopRequestFaults(job: StoredJob): Violation[] {
  const { stop_kind: kind, stop_requested_at: asked, stop_delivered_at: received, stopped_at: stopped } = job;
  const faults: Violation[] = [];
  const note = (what: string): void => void faults.push(violation(what, job.context_id, job.id));
  const wanted = job.status === 'cancelled' || job.status === 'interrupted';
  if (kind === null && wanted) note(`it is ${job.status} without a stop request`);
  if (kind === null) return faults;
  if (!wanted) note(`a stop request was lost: the job is ${job.status}`);
  if (asked === null || stopped === null) note('the receipt has no times');
  else if (asked > stopped) note('it was stopped before a request');
  if (received !== null && asked !== null && received < asked) note('the stop request was received before it was sent');
  if (received !== null && stopped !== null && received > stopped) note('the stop request was received after the end');
  return faults;
}

function lateFaults(job: StoredJob, made: readonly StoredMessage[], end: number): Violation[] {
  const late = made.filter(
    ({ role, seq, completed_at: at }) =>
      (role === 'assistant' || role === 'tool') &&
      ((seq ?? 0) > end || (job.stopped_at !== null && at !== null && at > job.stopped_at)),
  );
  return late.map(({ id, seq }) =>
    violation(`a message (${seq}) came after the end of its job (${end})`, job.context_id, job.id, id),
  );
}

/** The messages that an interrupt left are those of its mode and of its answer. Text that was not finished never counts. */
function modeFaults(job: StoredJob, all: readonly StoredMessage[], published: readonly Interrupt[]): Violation[] {
  const faults: Violation[] = [];
  const note = (what: string, ...ids: string[]): void =>
    void faults.push(violation(what, job.context_id, job.id, ...ids));
  const made = all.filter(({ type }) => type !== 'partial');
  const answers = made.filter(({ role }) => role === 'assistant' || role === 'tool');
  const inputs = made.filter(({ role, seq }) => role === 'user' && seq !== null);
  const seen = (list: readonly StoredMessage[]): string[] =>
    list.filter(({ status }) => status === 'completed').map(({ id }) => id);
  const gone = (list: readonly StoredMessage[]): string[] =>
    list.filter(({ status }) => status === 'retracted').map(({ id }) => id);
  if (job.stop_mode === 'keep' && gone(made).length > 0) note('kept, and retracted', ...gone(made));
  if (job.stop_mode !== 'keep' && seen(answers).length > 0) note('to be retracted, and still there', ...seen(answers));
  if (job.stop_mode === 'discard' && gone(inputs).length > 0) note('its input was retracted', ...gone(inputs));
  if (job.stop_mode === 'rollback' && seen(inputs).length > 0) note('its input is still there', ...seen(inputs));
  for (const { removed } of published) {
    if (removed !== null && removed.toSorted().join() !== gone(made).toSorted().join()) {
      note('its answer names other messages than were retracted', ...(removed ?? []));
    }
  }
  return faults;
}
