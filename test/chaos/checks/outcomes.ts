// For each unknown outcome a person was asked, and the report is published once and is the final outcome.
import { groupBy, type Check, type OutcomeReport, type Violation } from '../world/world.ts';
import type { StoredCall, StoredJob } from '../world/stored.ts';
import { reporter } from './violation.ts';

const violation = reporter('outcomes');

export const outcomes: Check = {
  name: 'outcomes',
  find({ calls, jobs, events, reported }) {
    const byCall = (wanted: string) =>
      groupBy(
        events.filter(({ name }) => name === wanted),
        ({ data }) => String(data['tool_call_id']),
      );
    const asked = byCall('OutcomeUnknown');
    const published = byCall('OutcomeResolved');
    const reportsOf = groupBy(reported, ({ callId }) => callId);
    const owners = new Map(jobs.map((job) => [job.id, job]));
    return calls.flatMap((call) =>
      callFaults(
        call,
        asked.get(call.id)?.length ?? 0,
        (published.get(call.id) ?? []).map(({ data }) => String(data['outcome'])),
        reportsOf.get(call.id) ?? [],
        owners.get(call.job_id),
      ),
    );
  },
};

function callFaults(
  call: StoredCall,
  asked: number,
  published: readonly string[],
  reported: readonly OutcomeReport[],
  job: StoredJob | undefined,
): Violation[] {
  const faults: Violation[] = [];
  const note = (what: string): void => void faults.push(violation(what, call.context_id, call.id, call.job_id));
  if (
    published.toSorted().join() !==
    reported
      .map(({ outcome }) => outcome)
      .toSorted()
      .join()
  )
    note(
      `published outcomes: ${published.join(', ') || 'none'}; reported outcomes: ${reported.map(({ outcome }) => outcome).join(', ') || 'none'}`,
    );
  if (reported.length > asked) note(`asked ${asked} times, answered ${reported.length} times`);
  if (asked > reported.length && job?.stop_kind === null)
    note('a person was asked, and it continued without an answer');
  const last = reported.at(-1)?.outcome;
  if (last === 'happened' && call.status !== 'completed')
    note(`its reported outcome is happened, and it is ${call.status}`);
  if (last === 'tell' && call.status !== 'unknown') note(`its reported outcome is unknown, and it is ${call.status}`);
  return faults;
}
