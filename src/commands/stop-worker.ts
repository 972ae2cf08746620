/** Stop: what runs is cancelled, input is refused, what is queued stays queued. Start lets it all go on. */
import { refuse } from '../core/errors.ts';
import type { ContextId, TenantId } from '../core/ids.ts';
import { activeJob } from '../db/job-views.ts';
import { callUp, setStopped, wish } from '../db/wishes.ts';
import { done } from './perform.ts';
import type { Command, Tidings } from './perform.ts';
import type { CommandPorts } from './ports.ts';
import { carryOut } from './settle.ts';

type Target = { tenantId: TenantId; contextId: ContextId };

/** In a transaction; repeatable. Refused: `not_found`. */
export function stopWorker(
  { ids, times, stopGraceMs }: Pick<CommandPorts, 'ids' | 'times' | 'stopGraceMs'>,
  { tenantId, contextId }: Target,
): Command<Target> {
  return async (tx) => {
    const called = await callUp(tx, tenantId, contextId, times);
    if (called === null) return refuse('not_found', `There is no context ${contextId}.`);
    const stopped = await setStopped(tx, tenantId, contextId, true);
    const jobId = await activeJob(tx, tenantId, contextId);
    if (jobId !== null)
      await wish(tx, tenantId, jobId, { kind: 'stop' }, 'the worker was stopped', stopGraceMs);
    const tidings = await carryOut(tx, contextId, called, ids);
    return done({ tenantId, contextId }, ...tidings, ...progress(contextId, stopped.headSeq));
  };
}

/** In a transaction; repeatable. Refused: `not_found`. */
export function startWorker(
  { times }: Pick<CommandPorts, 'times'>,
  { tenantId, contextId }: Target,
): Command<Target> {
  return async (tx) => {
    const called = await callUp(tx, tenantId, contextId, times);
    if (called === null) return refuse('not_found', `There is no context ${contextId}.`);
    const started = await setStopped(tx, tenantId, contextId, false);
    const { wakeSeq, epoch, headSeq } = started;
    const rings: Tidings[] = started.runnable ? [{ kind: 'ring', ring: { contextId, wakeSeq, epoch } }] : [];
    return done({ tenantId, contextId }, ...rings, ...progress(contextId, headSeq));
  };
}

function progress(contextId: ContextId, headSeq: number): Tidings[] {
  return [{ kind: 'progress', progress: { contextId, headSeq, finished: null } }];
}
