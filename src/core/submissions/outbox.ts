/**
 * The outbox of a service: a table in the service's own database, in which its transactions submit jobs. Worker processes
 * relay its rows to the submissions of the installation.
 */
import type { ContextId, JobId, WorkerId } from '../ids.ts';
import type { User } from '../access/user.ts';

/** An outbox that the operator has configured. `schema` null: that of the installation. */
export type OutboxSettings = { url: string; schema: string | null; tenants: readonly string[] };

export type NamedOutbox = OutboxSettings & { name: string; schema: string };

/** `schema`: that of the installation. */
export function namedOutboxes(outboxes: ReadonlyMap<string, OutboxSettings>, schema: string): NamedOutbox[] {
  return [...outboxes].map(([name, settings]) => ({ ...settings, name, schema: settings.schema ?? schema }));
}

/**
 * Why a row of an outbox became no submission. It stays in the outbox. `tenant_not_allowed`: the operator has not named
 * its tenant, or the tenant was deleted. `not_found`: its context does not exist. `job_id_taken`: the id is that of another job.
 */
export const OUTBOX_CODES = ['tenant_not_allowed', 'not_found', 'job_id_taken', 'invalid_request'] as const;
export type OutboxCode = (typeof OUTBOX_CODES)[number];

export type OutboxError = { code: OutboxCode; message: string };

/** What a submission says of its place. `creates`: the worker that it creates; null: it is for a context that exists. */
export type SubmissionPlace = {
  jobId: JobId;
  contextId: ContextId;
  creates: { workerId: WorkerId; user: User | null } | null;
};
