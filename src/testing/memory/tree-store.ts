/** What a worker in memory reads of the others, for the rules of the product. */
import type { Team } from '../../agent/calls/team.ts';
import { NO_LIMITS, countedFor, limitsOf } from '../../core/access/quotas.ts';
import type { JobId, WorkerId } from '../../core/ids.ts';
import { traceParentOfJob } from '../../core/tracing/trace-parent.ts';
import { arrange, outcomes, type Rules } from '../../workers/run/team/rules.ts';
import type { TeamStore } from '../../workers/run/team/store.ts';
import { outcomeOf } from './outcome.ts';
import type { Member, MemberOf, MemoryTree } from './tree.ts';

/** The team of one worker of the tree. */
export function memoryTeam(rules: Rules, tree: MemoryTree, of: MemberOf): Team {
  const store = treeStore(rules, tree, of);
  return {
    arrange: (snapshot, job, settings, asking) =>
      arrange(rules, store, { snapshot, job, settings, traceParent: traceParentOfJob(job.id) }, asking),
    // No job of another worker ends while this one runs.
    recount: async () => false,
    outcomes: (_, over) => outcomes(rules, store, over),
  };
}

function treeStore({ abilities }: Rules, tree: MemoryTree, self: MemberOf): TeamStore {
  const { team } = abilities;
  const busy = (): number => tree.members.filter(({ context }) => context.status !== 'idle').length;
  return {
    roles: {
      async find(name) {
        const definition = team.roles.get(name);
        return definition === undefined ? null : { role: { name, version: null }, definition };
      },
      firstMissing: async ([first = null]) => first,
    },
    async parent(workerId, jobId) {
      const { role, config, depth, context } = memberOf(tree, workerId);
      const children = tree.members.filter(({ parent }) => parent === workerId).length;
      return {
        role: role === null ? null : { name: role, version: null },
        definition: null,
        config,
        user: context.current.lease.user === '' ? null : context.current.lease.user,
        rootWorkerId: rootOf(tree, workerId),
        counts: { depth, children, inTree: busy(), ofTenant: busy() },
        job: { hops: tree.hops(jobId), priority: 1 },
        tenantLimits: NO_LIMITS,
      };
    },
    async room(own, count) {
      const limits = limitsOf(own, team.tenantLimits);
      if (countedFor(limits, { workers: count, queuedJobs: count }) === null) return null;
      const queuedJobs = tree.members.reduce((sum, { context }) => sum + context.queue.length, 0);
      return { limits, usage: { workers: tree.members.length, queuedJobs, storedBytes: 0 } };
    },
    relations: async (above, workerIds) =>
      workerIds.flatMap((workerId) => {
        const member = tree.member(workerId);
        if (member === undefined) return [];
        return [{ workerId, isBelow: isBelow(tree, member, above), unfinished: unfinishedOf(member) }];
      }),
    outcomes: async (asked) =>
      new Map(
        asked.map(({ callId, workers }) => [
          callId,
          workers.flatMap(({ workerId, jobId }) => {
            const member = tree.member(workerId);
            const last = tree.awaited(callId).findLast((one) => one.workerId === workerId)?.jobId ?? null;
            return member === undefined ? [] : [outcomeOf(member, jobId ?? last)];
          }),
        ]),
      ),
    spawned: async (callIds) =>
      new Map(
        callIds.flatMap((callId) => {
          const [first] = tree.awaited(callId);
          return first === undefined ? [] : [[callId, first.workerId] as const];
        }),
      ),
    suppressDuplicate: async (jobIds) => tree.withoutNotice(memberOf(tree, self.workerId), jobIds),
    recount: async () => false,
  };
}

function memberOf(tree: MemoryTree, id: WorkerId): Member {
  const member = tree.member(id);
  if (member === undefined) throw new Error(`There is no worker ${id}.`);
  return member;
}

function rootOf(tree: MemoryTree, id: WorkerId): WorkerId {
  const { parent } = memberOf(tree, id);
  return parent === null ? id : rootOf(tree, parent);
}

function isBelow(tree: MemoryTree, { parent }: MemberOf, above: WorkerId): boolean {
  if (parent === null) return false;
  return parent === above || isBelow(tree, memberOf(tree, parent), above);
}

/** The running job first. */
function unfinishedOf({ context: { current, queue } }: Member): JobId[] {
  return [...(current.job === null ? [] : [current.job.id]), ...queue.map(({ id }) => id)];
}
