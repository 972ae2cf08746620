/** The child workers that an append creates, each with its context, its first branch and its first job. */
import { sql } from 'drizzle-orm';
import { MAIN } from '../../../core/conversation/branch.ts';
import type { Append } from '../../../core/run/append.ts';
import type { Spawn } from '../../../core/workers/spawn.ts';
import { plainText } from '../../connection/codec.ts';
import { WAKE_UP_GRACE_MS } from '../../connection/instant.ts';
import { branches } from '../../schema/branches.ts';
import { contexts } from '../../schema/contexts.ts';
import { jobs } from '../../schema/jobs.ts';
import { messages } from '../../schema/messages.ts';
import { workers } from '../../schema/workers.ts';
import type { Child, EncodedAppend } from './contents.ts';
import { insertion } from './part.ts';

const of = ({ spawns }: Append): Spawn[] => spawns;
const ofChildren = ({ children }: EncodedAppend): Child[] => children;

export const childContexts = insertion('child_contexts', contexts, {
  of: ofChildren,
  columns: {
    id: ({ spawn }) => spawn.contextId,
    tenantId: sql`ctx.tenant_id`,
    userName: ({ spawn }) => spawn.user ?? '',
    schedulingStatus: sql`'runnable'`,
    wakeSeq: sql`1`,
    queued: sql`1`,
    storedBytes: ({ content }) => content.bytes,
    priority: ({ spawn }) => spawn.priority,
    nextCheckAt: sql`statement_timestamp() + ${sql.raw(String(WAKE_UP_GRACE_MS))} * interval '1 millisecond'`,
  },
});

export const childWorkers = insertion('child_workers', workers, {
  of,
  inputs: {
    expires: ['boolean', ({ config, role }) => config.idle_timeout_s !== undefined || role !== null],
  },
  columns: {
    id: ({ workerId }) => workerId,
    tenantId: sql`ctx.tenant_id`,
    contextId: ({ contextId }) => contextId,
    user: ({ user }) => user,
    name: ({ name }) => plainText(name),
    role: ({ role }) => role?.name ?? null,
    roleVersion: ({ role }) => role?.version ?? null,
    config: ({ config }) => config,
    parentWorkerId: ({ parentWorkerId }) => parentWorkerId,
    rootWorkerId: ({ rootWorkerId }) => rootWorkerId,
    depth: ({ depth }) => depth,
    detached: ({ detached }) => detached,
    // The sweep computes when it expires.
    expiresAt: sql`case when r.expires then statement_timestamp() end`,
  },
});

export const childBranches = insertion('child_branches', branches, {
  of,
  columns: {
    contextId: ({ contextId }) => contextId,
    tenantId: sql`ctx.tenant_id`,
    name: () => MAIN,
  },
});

export const childInputs = insertion('child_inputs', messages, {
  of: ofChildren,
  columns: {
    id: ({ spawn }) => spawn.messageId,
    tenantId: sql`ctx.tenant_id`,
    contextId: ({ spawn }) => spawn.contextId,
    branch: () => MAIN,
    role: sql`'user'`,
    type: sql`'text'`,
    status: sql`'queued'`,
    content: ({ content }) => content,
    jobId: ({ spawn }) => spawn.jobId,
    senderWorkerId: ({ spawn }) => spawn.parentWorkerId,
  },
});

export const childJobs = insertion('child_jobs', jobs, {
  of,
  inputs: { awaited: ['boolean', ({ awaited }) => awaited] },
  columns: {
    id: ({ jobId }) => jobId,
    tenantId: sql`ctx.tenant_id`,
    contextId: ({ contextId }) => contextId,
    workerId: ({ workerId }) => workerId,
    user: ({ jobUser }) => jobUser,
    kind: sql`'input'`,
    branch: () => MAIN,
    priority: ({ priority }) => priority,
    position: sql`1`,
    messageId: ({ messageId }) => messageId,
    deadline: ({ deadline }) => deadline,
    parentJobId: ({ parentJobId }) => parentJobId,
    parentToolCallId: ({ callId }) => callId,
    hops: ({ hops }) => hops,
    traceParent: ({ traceParent }) => traceParent,
    parentNotice: sql`case when not r.awaited then 'wanted' end`,
    metadata: () => ({}),
  },
});
