/** For each table of a tenant: what writes a row of it, tried after the tenant was deleted. */
import { sql } from 'drizzle-orm';
import { makeKey } from '../../../src/commands/keys/make-key.ts';
import { createSchedule } from '../../../src/commands/schedules/create-schedule.ts';
import { makeWebhook } from '../../../src/commands/webhooks/change-webhook.ts';
import { putRole } from '../../../src/commands/workers/change-role.ts';
import { createWorker } from '../../../src/commands/workers/create-worker.ts';
import { perform, type AnyCommand } from '../../../src/commands/perform.ts';
import { SYSTEM } from '../../../src/core/access/actor.ts';
import { DATABASE_SCHEMA } from '../../../src/core/database-schema.ts';
import type { TenantId, WebhookId } from '../../../src/core/ids.ts';
import { addGrant } from '../../../src/db/submissions/grants.ts';
import { setThrottle } from '../../../src/db/processes/throttles.ts';
import { noUse } from '../../../src/core/tools/tool-use.ts';
import { storeUse } from '../../../src/db/calls/tool-use.ts';
import { keepToolList } from '../../../src/db/model-calls/tool-lists.ts';
import { addEntries } from '../../../src/db/write/audit.ts';
import { takeKey } from '../../../src/db/write/inputs/idempotency.ts';
import { beginSession } from '../../../src/db/write/sessions.ts';
import type { TenantTable } from '../../../src/db/write/tenants/deletion.ts';
import { revokeTokens } from '../../../src/db/write/tokens.ts';
import { ids } from '../../db/database-fixture.ts';
import type { Fleet } from '../worker-fleet.ts';

type Write = (fleet: Fleet, tenantId: TenantId) => Promise<unknown>;

/** Rows of these are written only with a row of the other table, under its lock. */
type WithParent = 'webhook_deliveries' | 'schedule_runs';

const command =
  <T>(make: (tenantId: TenantId) => AnyCommand<T>): Write =>
  (fleet, tenantId) =>
    perform(fleet.ports, make(tenantId));

export const LATE_WRITERS: Readonly<Record<Exclude<TenantTable, WithParent> | 'workers', Write>> = {
  workers: (fleet, tenantId) =>
    command(() =>
      createWorker(fleet.ports, {
        tenantId,
        user: null,
        name: 'w',
        title: null,
        role: null,
        config: {},
        parentWorkerId: null,
      }),
    )(fleet, tenantId),
  webhooks: command((tenantId) =>
    makeWebhook({
      id: ids.next<WebhookId>(),
      tenantId,
      url: 'https://example.com/',
      events: ['job.finished'],
      filter: null,
      status: 'active',
      secret: 's',
    }),
  ),
  schedules: command((tenantId) =>
    createSchedule(
      { ids },
      {
        tenantId,
        user: null,
        actor: SYSTEM,
        name: 's',
        timing: { kind: 'every', everyS: 60 },
        timezone: 'UTC',
        target: { kind: 'worker', worker: { name: 'w', role: null, config: {} } },
        content: 'x',
        overlap: 'queue',
        catchUp: 'one',
        jitterS: 0,
        paused: false,
      },
    ),
  ),
  idempotency_keys: ({ database: { db } }, tenantId) => takeKey(db, tenantId, 'late', 'h'),
  sessions: ({ database: { db } }, tenantId) =>
    beginSession(db, 'late', { kind: 'tenant', tenantId, owner: { kind: 'key', key: { kind: 'env', id: 'k' } } }, 60),
  api_keys: command((tenantId) =>
    makeKey(
      {
        id: ids.next(),
        tenantId,
        name: 'late',
        scopes: ['keys'],
        limits: {},
        hash: 'h'.repeat(43),
        isByOperator: false,
        lifetimeMs: null,
        expiresAt: null,
        replaces: null,
      },
      async () => true,
    ),
  ),
  token_revocations: ({ database: { db } }, tenantId) => revokeTokens(db, tenantId, 'ann' as never),
  roles: command((tenantId) => putRole({ tenantId, name: 'late', isCurrent: () => true }, { system_prompt: 'x' })),
  provider_throttles: ({ database: { db } }, tenantId) =>
    setThrottle(
      db,
      { provider: 'openai', keyId: 'k', model: 'm' },
      { id: 'late', tenantId, reason: 'overloaded', since: 0, refusedAt: 0, until: Date.now() + 60_000 },
    ),
  // It names no input, so that it stays: it becomes no job.
  submissions: ({ database: { db } }, tenantId) =>
    db.execute(sql`select nightshift_submit_v1(t.name, json_build_object(
      'job_id', gen_random_uuid(), 'context_id', gen_random_uuid(), 'worker_id', gen_random_uuid())::text)
      from tenants t where t.id = ${tenantId}`),
  submission_grants: async ({ database: { db } }, tenantId) => {
    const [known] = await db.execute<{ tenant: string; role: string }>(
      sql`select t.name as tenant, current_user as role from tenants t where t.id = ${tenantId}`,
    );
    if (known !== undefined) await addGrant(db, DATABASE_SCHEMA, known);
  },
  tool_use: ({ database: { db } }, tenantId) =>
    storeUse(db, [
      {
        tenantId,
        tool: 'late',
        use: { ...noUse(), completed: 1 },
      },
    ]),
  tool_lists: ({ database: { db } }, tenantId) => keepToolList(db, tenantId, 'late', []),
  audit_entries: ({ database: { db } }, tenantId) =>
    addEntries(db, { tenantId, actor: SYSTEM, requestId: null }, [
      { id: ids.next(), action: 'key.created', target: 't', detail: {} },
    ]),
};
