// A suspended tenant begins nothing and loses nothing; of a deleted one no row is left; each job has its user. A run in
// which no tenant with jobs was suspended or deleted tests nothing.
import type { Check, OtherTenants, Violation } from '../world/world.ts';
import { reporter } from './violation.ts';

const violation = reporter('tenants');

export const tenants: Check = {
  name: 'tenants',
  find({ others, schedules: { runs } }) {
    const { inputs, jobs, suspended, left } = others;
    const accepted = inputs.filter(({ tenant }) => tenant === 'paused');
    const byId = new Map(jobs.map((job) => [job.id, job]));
    const known = new Set([...accepted.map(({ jobId }) => jobId), ...runs.map(({ job_id: id }) => id)]);
    return [
      ...nothingHappened(others),
      ...accepted.flatMap(({ jobId, tag, user }) => {
        const job = byId.get(jobId);
        if (job === undefined)
          return [violation(`the accepted input ${tag} of the suspended tenant has no job`, null, jobId)];
        return [
          ...(job.status === 'completed'
            ? []
            : [violation(`the job of ${tag} of the resumed tenant is ${job.status}`, null, jobId)]),
          ...(job.user === user
            ? []
            : [violation(`the job of ${tag} has the user ${job.user}, not ${user}`, null, jobId)]),
        ];
      }),
      ...jobs
        .filter(({ id }) => !known.has(id))
        .map(({ id }) => violation('a job of the suspended tenant is of no accepted input and no run', null, id)),
      ...jobs.flatMap(({ id, startedAt: at }) => {
        if (suspended === null || at === null || at <= suspended.from || at >= suspended.to) return [];
        const late = `${at - suspended.from} ms after none may begin`;
        return [violation(`a job began while its tenant was suspended, ${late}`, null, id)];
      }),
      ...left.map((table) => violation(`a deleted tenant has rows left: ${table}`, null)),
    ];
  },
};

function nothingHappened({ inputs, suspended, deleted }: OtherTenants): Violation[] {
  const names = ['paused', 'deleted'] as const;
  return [
    ...(suspended === null ? [violation('no tenant was suspended', null)] : []),
    ...names.flatMap((name) => [
      ...(inputs.some(({ tenant }) => tenant === name) ? [] : [violation(`the tenant ${name} had no input`, null)]),
      ...(deleted.includes(name) ? [] : [violation(`the tenant ${name} was not deleted`, null)]),
    ]),
  ];
}
