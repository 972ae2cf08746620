/** The audit log: who changed access, settings or data, and who decided on calls. Entries are never changed. */
import type { Actor } from './actor.ts';
import type { AuditEntryId, TenantId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import type { Millis } from '../time.ts';

export const AUDIT_ACTIONS = [
  'key.created',
  'key.rotated',
  'key.revoked',
  'token.created',
  'tokens.revoked',
  'session.started',
  'session.ended',
  'tool_call.approved',
  'tool_call.denied',
  'tool_call.resolved',
  'grant.removed',
  'role.saved',
  'role.deleted',
  'schedule.created',
  'schedule.changed',
  'schedule.deleted',
  'schedule.run',
  'webhook.created',
  'webhook.changed',
  'webhook.rotated',
  'webhook.disabled',
  'webhook.deleted',
  'job.retried',
  'config.changed',
  'context.imported',
  'context.deleted',
  'worker.deleted',
  'tenant.created',
  'tenant.changed',
  'tenant.deleted',
  'throttle.ended',
  'process.paused',
  'process.resumed',
  'process.drained',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** What was done. `target`: the id or the name of what it was done to. */
export type AuditAct = { action: AuditAction; target: string; detail: JsonObject };

/**
 * `tenantId` null: an act of the operator on the installation. `requestId`: the `x-request-id` of the response; null: no
 * request asked for it.
 */
export type AuditedRequest = { tenantId: TenantId | null; actor: Actor; requestId: string | null };

export type AuditEntry = AuditAct & Omit<AuditedRequest, 'tenantId'> & { id: AuditEntryId; at: Millis };
