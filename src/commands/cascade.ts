/**
 * A cancel, an interrupt or a stop goes down the tree, each context in a transaction of its own. Repeatable: what was told
 * is not told again, and the mark that says there is more to do goes last.
 *
 * Cancel and interrupt end the jobs that the job asked for: they are cancelled, and leave a mark for the level below them.
 * Stop reaches all workers below, level by level: what workers asked of them ends, and they stay stopped until the one
 * above is started. Whoever was spawned detached goes on, with all below it.
 */
import type { ContextId, JobId, TenantId, WorkerId } from '../core/ids.ts';
import type { Executor } from '../db/client.ts';
import { contextsBelow, cascaded, lockStopped, jobsBelow, workersBelow } from '../db/follow-ups.ts';
import type { FollowUp } from '../db/follow-ups.ts';
import { cancelWithin } from './cancel-job.ts';
import { mapConcurrent } from './map-concurrent.ts';
import { perform } from './perform.ts';
import type { Command } from './perform.ts';
import type { CommandPorts } from './ports.ts';
import { startWorker, stopWorker } from './stop-worker.ts';

type Ports = Omit<CommandPorts, 'boundResult'>;

/** Contexts that are looked up at once. */
const PAGE = 200;

/** Harmless where somebody else does it at the same time. */
export async function cascade(ports: Ports, followUp: Extract<FollowUp, { kind: 'cascade' }>): Promise<void> {
  const { tenantId, jobId, stopKind, workerId } = followUp;
  switch (stopKind) {
    case 'cancel':
      await cancelBelow(ports, tenantId, jobId, 'the job that asked for it was cancelled');
      break;
    case 'interrupt':
      await cancelBelow(ports, tenantId, jobId, 'the job that asked for it was interrupted');
      break;
    case 'stop':
      await stopBelow(ports, tenantId, workerId);
      break;
  }
  await cascaded(ports.database.db, followUp);
}

async function cancelBelow(ports: Ports, tenantId: TenantId, jobId: JobId, reason: string): Promise<void> {
  let page: ContextId[] = [];
  do {
    page = await contextsBelow(ports.database.db, tenantId, jobId, PAGE);
    await mapConcurrent(page, async (contextId) => {
      const which = (tx: Executor): Promise<JobId[]> => jobsBelow(tx, tenantId, jobId, contextId);
      await perform(ports, cancelWithin(ports, { tenantId, contextId, reason, which }));
    });
  } while (page.length === PAGE);
}

/** Stops all below a worker, as long as that is stopped itself. Called again it goes on. */
export async function stopBelow(ports: Ports, tenantId: TenantId, above: WorkerId): Promise<void> {
  const reason = 'a worker above it was stopped';
  const may = (tx: Executor): Promise<boolean> => lockStopped(tx, above);
  await toAllBelow(ports, tenantId, above, true, (contextId) =>
    stopWorker(ports, { tenantId, contextId }, { reason, may, asked: 'cancel' }),
  );
}

/** Starts all below a worker, as long as that is started itself. Called again it goes on. */
export async function startBelow(ports: Ports, tenantId: TenantId, above: WorkerId): Promise<void> {
  const may = async (tx: Executor): Promise<boolean> => !(await lockStopped(tx, above));
  await toAllBelow(ports, tenantId, above, false, (contextId) =>
    startWorker(ports, { tenantId, contextId }, may),
  );
}

/** Those nearest first. Ends where none of them is left, or none of them may any more. */
async function toAllBelow(
  ports: Ports,
  tenantId: TenantId,
  above: WorkerId,
  stopped: boolean,
  command: (contextId: ContextId) => Command<unknown>,
): Promise<void> {
  for (;;) {
    const page = await workersBelow(ports.database.db, tenantId, above, !stopped, PAGE);
    let told = 0;
    await mapConcurrent(page, async ({ contextId }) => {
      const outcome = await perform(ports, command(contextId));
      if (outcome.kind === 'done') told += 1;
    });
    if (page.length < PAGE || told === 0) return;
  }
}
