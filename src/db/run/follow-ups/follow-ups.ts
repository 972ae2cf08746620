/**
 * Follow-ups (a transactional outbox): effects of a job's end on other contexts, recorded by the commit that ends the
 * job (see ends.ts). The process that carries one out may die halfway, and two processes may do so at once. So each
 * part is a transaction that reads the state again, and the record is removed last.
 */
import type { Executor } from '../../connection/client.ts';
import { findCascades, type Cascade } from './cascades.ts';
import { findParentNotices, type ParentNotice } from './parent-notices.ts';

export type FollowUp = Cascade | ParentNotice;

/** Follow-ups that can be carried out now, at most `most` of each kind. `queueLimit`: see `findParentNotices`. */
export async function dueFollowUps(executor: Executor, most: number, queueLimit: number): Promise<FollowUp[]> {
  const [cascades, notices] = await Promise.all([
    findCascades(executor, most),
    findParentNotices(executor, most, queueLimit),
  ]);
  return [...cascades, ...notices];
}
