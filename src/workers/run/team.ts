/** Other workers, for a run: the rules over the database. Only reads, and waits for a database that is unavailable. */
import type { RunSignals } from '../../agent/run-signals.ts';
import type { Team } from '../../agent/calls/team.ts';
import type { ActiveJob } from '../../core/run/job.ts';
import type { TraceParent } from '../../core/tracing/trace-parent.ts';
import type { WorkerState } from '../process/ports.ts';
import { persist } from './journal.ts';
import { arrange, outcomes, recounted } from './team/rules.ts';
import { databaseStore } from './team/store.ts';

type Parts = Pick<WorkerState, 'database' | 'wakeQueue' | 'bus' | 'abilities' | 'ids' | 'clock' | 'times'>;

/** `traceParentOf`: the run of a job, in a trace. */
export function createTeam(
  parts: Parts,
  signals: RunSignals,
  traceParentOf: (job: ActiveJob) => TraceParent | null,
): Team {
  return {
    arrange: (snapshot, job, settings, asking) =>
      persist(signals, () => {
        const self = { snapshot, job, settings, traceParent: traceParentOf(job) };
        return arrange(parts, databaseStore(parts, snapshot.lease), self, asking);
      }),
    recount: ({ lease }, waiting) =>
      persist(signals, () => databaseStore(parts, lease).recount(waiting.flatMap(recounted))),
    outcomes: ({ lease }, over) => persist(signals, () => outcomes(parts, databaseStore(parts, lease), over)),
  };
}
