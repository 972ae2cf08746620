/** All named components. */
import type { TSchema } from 'typebox';
import * as configCompaction from '../../schema/compaction.ts';
import * as config from '../../schema/config.ts';
import { Actor } from './actor.ts';
import { Usage } from './common.ts';
import * as apiKey from './system/api-key.ts';
import * as approval from './jobs/approval.ts';
import * as audit from './system/audit.ts';
import * as branch from './contexts/branch.ts';
import * as cancelJobs from './jobs/cancel-jobs.ts';
import * as retryJobs from './jobs/retry-jobs.ts';
import * as chat from './contexts/chat.ts';
import * as compaction from './contexts/compaction.ts';
import * as context from './contexts/context.ts';
import * as effective from './workers/effective.ts';
import { EVENTS } from './contexts/event.ts';
import { Changed } from './system/change.ts';
import * as exported from './contexts/export.ts';
import * as imported from './contexts/import.ts';
import * as installation from './system/installation.ts';
import * as interrupt from './contexts/interrupt.ts';
import * as job from './jobs/job.ts';
import * as log from './jobs/log.ts';
import * as message from './messages/message.ts';
import { Problem } from './problem.ts';
import * as process from './system/process.ts';
import * as resolveToolCall from './jobs/resolve-tool-call.ts';
import * as retraction from './messages/retraction.ts';
import * as role from './workers/role.ts';
import * as schedule from './schedules/schedule.ts';
import * as search from './messages/search.ts';
import * as session from './system/session.ts';
import * as statsHistory from './system/stats-history.ts';
import * as step from './jobs/step.ts';
import * as system from './system/system.ts';
import * as tenant from './system/tenant.ts';
import * as tenantUsage from './system/usage.ts';
import * as token from './system/token.ts';
import * as toolCall from './jobs/tool-call.ts';
import * as tool from './system/tool.ts';
import * as turn from './messages/turn.ts';
import * as webhook from './webhooks/webhook.ts';
import * as worker from './workers/worker.ts';
import * as workerTree from './workers/worker-tree.ts';

type Component = TSchema & { $id: string };

const all: unknown[] = [
  Problem,
  Usage,
  Actor,
  ...Object.values(EVENTS),
  Changed,
  ...[
    configCompaction,
    compaction,
    config,
    effective,
    worker,
    workerTree,
    context,
    message,
    retraction,
    turn,
    approval,
    audit,
    branch,
    chat,
    interrupt,
    job,
    log,
    process,
    cancelJobs,
    retryJobs,
    step,
    toolCall,
    tool,
    resolveToolCall,
    role,
    schedule,
    search,
    session,
    apiKey,
    tenant,
    token,
    tenantUsage,
    webhook,
    exported,
    imported,
    system,
    installation,
    statsHistory,
  ].flatMap((schemas) => Object.values(schemas)),
];

export const components: readonly Component[] = all.filter(isNamed);

function isNamed(value: unknown): value is Component {
  return typeof value === 'object' && value !== null && '$id' in value && typeof value.$id === 'string';
}

const byId: Record<string, unknown> = Object.fromEntries(components.map((component) => [component.$id, component]));

/** The components for Fastify. Its own bucket would copy all of them, twice for each route. */
export function componentBucket() {
  return {
    add(): never {
      throw new Error('The named schemas of the API are in src/api/schemas/components.ts.');
    },
    getSchema: (id: string) => byId[id],
    getSchemas: () => byId,
  };
}
