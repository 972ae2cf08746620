// For each unknown outcome a person was asked, and the report is published once and is the final outcome.
import { groupBy } from '../world/world.ts';
import type { StoredCall, StoredJob } from '../world/stored.ts';
import type { Check, Said, Violation } from '../world/world.ts';
import { sayer } from './violation.ts';

const says = sayer('outcomes');

export const outcomes: Check = {
  name: 'outcomes',
  find({ calls, jobs, events, said }) {
    const byCall = (wanted: string) =>
      groupBy(
        events.filter(({ name }) => name === wanted),
        ({ data }) => String(data['tool_call_id']),
      );
    const asked = byCall('OutcomeUnknown');
    const told = byCall('OutcomeResolved');
    const saidOf = groupBy(said, ({ callId }) => callId);
    const owners = new Map(jobs.map((job) => [job.id, job]));
    return calls.flatMap((call) =>
      callFaults(
        call,
        asked.get(call.id)?.length ?? 0,
        (told.get(call.id) ?? []).map(({ data }) => String(data['outcome'])),
        saidOf.get(call.id) ?? [],
        owners.get(call.job_id),
      ),
    );
  },
};

function callFaults(
  call: StoredCall,
  asked: number,
  told: readonly string[],
  said: readonly Said[],
  job: StoredJob | undefined,
): Violation[] {
  const faults: Violation[] = [];
  const note = (what: string): void => void faults.push(says(what, call.context_id, call.id, call.job_id));
  if (
    told.toSorted().join() !==
    said
      .map(({ outcome }) => outcome)
      .toSorted()
      .join()
  )
    note(
      `published outcomes: ${told.join(', ') || 'none'}; reported outcomes: ${said.map(({ outcome }) => outcome).join(', ') || 'none'}`,
    );
  if (said.length > asked) note(`asked ${asked} times, answered ${said.length} times`);
  if (asked > said.length && job?.stop_kind === null)
    note('a person was asked, and it continued without an answer');
  const last = said.at(-1)?.outcome;
  if (last === 'happened' && call.status !== 'completed')
    note(`its reported outcome is happened, and it is ${call.status}`);
  if (last === 'tell' && call.status !== 'unknown')
    note(`its reported outcome is unknown, and it is ${call.status}`);
  return faults;
}
