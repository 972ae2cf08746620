// Each failed job of a bulk retry was retried once, whichever key asked for it and however often; the answers are what is
// stored. A run in which no answer was lost tests nothing.
import { groupBy, type Check, type Violation } from '../world/world.ts';
import type { Batch, RepairJob } from '../world/repairs.ts';
import { reporter } from './violation.ts';

const violation = reporter('retries');

export const retries: Check = {
  name: 'retries',
  find({ repairs: { batches, stored } }) {
    return [
      ...(batches.some(({ isLost }) => isLost) ? [] : [violation('no answer of a bulk retry was lost', null)]),
      ...batches.flatMap((batch) => batchFaults(batch, stored.jobs)),
    ];
  },
};

function batchFaults({ tag, jobs, answers, differs }: Batch, all: readonly RepairJob[]): Violation[] {
  const own = all.filter((job) => job.tag === tag);
  const made = answers.flatMap(({ retries: list }) =>
    list.flatMap(({ id, retry }) => (retry === null ? [] : [{ id, retry }])),
  );
  const ofJob = groupBy(made, ({ id }) => id);
  const known = new Set(made.map(({ retry }) => retry));
  const stored = new Set(own.filter(({ kind }) => kind === 'retry').map(({ id }) => id));
  return [
    ...(differs ? [violation(`the same key was answered differently: ${tag}`, null)] : []),
    ...jobs.filter((id) => !ofJob.has(id)).map((id) => violation(`a job of ${tag} was never retried`, null, id)),
    ...[...ofJob]
      .filter(([, list]) => list.length > 1)
      .map(([id, list]) => violation(`a job of ${tag} was retried ${list.length} times`, null, id)),
    ...[...stored].filter((id) => !known.has(id)).map((id) => violation(`a retry of ${tag} is in no answer`, null, id)),
    ...[...known].filter((id) => !stored.has(id)).map((id) => violation(`a retry of ${tag} is not stored`, null, id)),
    ...own
      .filter(({ status }) => status !== 'failed')
      .map(({ id, status }) => violation(`a job of ${tag} is ${status}`, null, id)),
  ];
}
