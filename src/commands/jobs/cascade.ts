/**
 * A cancel, an interrupt or a stop cascades down the tree, each context in its own transaction. Idempotent: a job that
 * already has a stop request gets no other, and the mark that there is more to do is cleared last.
 *
 * Cancel and interrupt end the jobs that the job asked for: these are cancelled, and leave a mark for the level below
 * them. Stop reaches all workers below, level by level: jobs that workers asked of them end, and they stay stopped
 * until the worker above is started. A worker that was spawned detached goes on, with all workers below it.
 */
import type { Actor } from '../../core/access/actor.ts';
import type { ContextId, JobId, TenantId, WorkerId } from '../../core/ids.ts';
import type { Executor } from '../../db/connection/client.ts';
import { contextsBelow, cascaded, lockStopped, jobsBelow, workersBelow } from '../../db/run/follow-ups/cascades.ts';
import type { Why } from '../../db/run/stop-requests.ts';
import type { FollowUp } from '../../db/run/follow-ups/follow-ups.ts';
import { cancelWithin } from './cancel-job.ts';
import { perform, type Command } from '../perform.ts';
import { mapConcurrent } from '../map-concurrent.ts';
import type { CommandPorts } from '../ports.ts';
import { startWorker, stopWorker } from '../workers/stop-worker.ts';

type Ports = Omit<CommandPorts, 'boundResult'>;

/** Contexts per query. */
const PAGE = 200;

/** Harmless if another process does it at the same time. */
export async function cascade(ports: Ports, followUp: Extract<FollowUp, { kind: 'cascade' }>): Promise<void> {
  const { tenantId, jobId, stopKind, workerId, by } = followUp;
  switch (stopKind) {
    case 'cancel':
      await cancelBelow(ports, tenantId, jobId, { reason: 'the job that asked for it was cancelled', by });
      break;
    case 'interrupt':
      await cancelBelow(ports, tenantId, jobId, { reason: 'the job that asked for it was interrupted', by });
      break;
    case 'stop':
      await stopBelow(ports, tenantId, workerId, by);
      break;
  }
  await cascaded(ports.database.db, followUp);
}

async function cancelBelow(ports: Ports, tenantId: TenantId, jobId: JobId, why: Why): Promise<void> {
  let page: ContextId[] = [];
  do {
    page = await contextsBelow(ports.database.db, tenantId, jobId, PAGE);
    const cancelIn = (contextId: ContextId): Promise<unknown> => {
      const which = (tx: Executor): Promise<JobId[]> => jobsBelow(tx, tenantId, jobId, contextId);
      return perform(ports, cancelWithin(ports, { tenantId, contextId, ...why, which }));
    };
    await mapConcurrent(page, cancelIn);
  } while (page.length === PAGE);
}

/** Stops all workers below a worker, as long as that worker is stopped itself. Another call continues. */
export async function stopBelow(ports: Ports, tenantId: TenantId, above: WorkerId, by: Actor | null): Promise<void> {
  const reason = 'a worker above it was stopped';
  const may = (tx: Executor): Promise<boolean> => lockStopped(tx, above);
  await toAllBelow(ports, { tenantId, above, stopped: false }, (contextId) =>
    stopWorker(ports, { tenantId, contextId }, { reason, by, may, asked: 'cancel' }),
  );
}

/** Starts all workers below a worker, as long as that worker is started itself. Another call continues. */
export async function startBelow(ports: Ports, tenantId: TenantId, above: WorkerId): Promise<void> {
  const may = async (tx: Executor): Promise<boolean> => !(await lockStopped(tx, above));
  await toAllBelow(ports, { tenantId, above, stopped: true }, (contextId) =>
    startWorker(ports, { tenantId, contextId }, may),
  );
}

/** The workers below `above` that are stopped, or those that are not. */
type Below = { tenantId: TenantId; above: WorkerId; stopped: boolean };

/** The nearest workers first. Ends when none is left, or the command is refused for all of them. */
async function toAllBelow(
  ports: Ports,
  { tenantId, above, stopped }: Below,
  command: (contextId: ContextId) => Command<unknown>,
): Promise<void> {
  for (;;) {
    const page = await workersBelow(ports.database.db, tenantId, above, { stopped, most: PAGE });
    const outcomes = await mapConcurrent(page, ({ contextId }) => perform(ports, command(contextId)));
    if (page.length < PAGE || outcomes.every(({ kind }) => kind !== 'done')) return;
  }
}
