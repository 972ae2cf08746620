// A paused process claims nothing, goes on once it is resumed, and a process that is asked to drain ends well and keeps no
// lease. A run in which no process was paused or drained tests nothing.
import type { Drain, Operated, Pause } from '../world/operated.ts';
import type { Check, Struck, Violation } from '../world/world.ts';
import { reporter } from './violation.ts';

const violation = reporter('operated');

export const operated: Check = {
  name: 'operated',
  find({ operated: all, faults }) {
    const { pauses, drains, alive } = all;
    return [
      ...(pauses.some(({ from, to }) => from !== null && to !== null)
        ? []
        : [violation('no process was paused', null)]),
      ...(drains.length === 0 ? [violation('no process was drained by a request', null)] : []),
      ...pauses.flatMap((pause) => pauseFaults(pause, all)),
      ...drains.flatMap((drain) => drainFaults(drain, all, faults)),
      ...alive
        .filter(({ requested, status }) => requested !== 'running' || status !== 'running')
        .map(({ id, requested, status }) =>
          violation(`a process is ${status} at the end, asked: ${requested}`, null, id),
        ),
    ];
  },
};

function pauseFaults({ process, id, from, to }: Pause, { claims }: Operated): Violation[] {
  if (from === null) return [violation(`${process} is not paused after its request`, null, id)];
  return claims
    .filter(({ owner, at }) => owner === id && at > from && (to === null || at < to))
    .map(({ at }) => violation(`${process} claimed ${(at - from).toFixed(0)} ms after it was paused`, null, id));
}

/** Without PostgreSQL a process cannot release its leases. */
function drainFaults({ process, id, code, leases, during }: Drain, { alive }: Operated, faults: Struck[]): Violation[] {
  const isCutOff = faults.some(
    ({ target, endsRuns, wall, ms }) =>
      target === 'postgres' && endsRuns && wall < during.to && wall + ms > during.from,
  );
  return [
    ...(code === 0 ? [] : [violation(`${process} was drained by a request and ended with ${code}`, null, id)]),
    ...(leases === 0 || isCutOff ? [] : [violation(`${process} was drained and keeps ${leases} leases`, null, id)]),
    ...(alive.some((row) => row.id === id)
      ? [violation(`${process} was drained and is still registered`, null, id)]
      : []),
  ];
}
