/**
 * The columns that tables share. CHECKs and unique indexes of the tables repeat the invariants of the protocols, so that
 * a bug makes a statement fail instead of corrupting a conversation. Every row has `tenant_id`, unless its table says
 * otherwise. The application generates the ids, except those of `search_backlog`.
 */
import { sql } from 'drizzle-orm';
import { bigint, customType, text, timestamp } from 'drizzle-orm/pg-core';
import type { TenantId } from '../../core/ids.ts';
import type { User } from '../../core/access/user.ts';
import { encodeJson } from '../connection/codec.ts';

/**
 * The id of a tenant (`tenants`). It has no foreign key: every insert of every table would lock the same row
 * (docs/decisions/0026-tenant-ids.md).
 */
export const tenantId = () => bigint('tenant_id', { mode: 'number' }).notNull().$type<TenantId>();

/** `user` is a reserved word of SQL. */
export const userName = () => text('user_name').$type<User>();

export const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date', precision: 3 });

/** Encodes characters that PostgreSQL rejects (see codec.ts). The driver's parser decodes them. */
const encoded =
  (dataType: 'json' | 'jsonb') =>
  <T>(name: string) =>
    customType<{ data: T; driverData: string }>({
      dataType: () => dataType,
      toDriver: (value) => encodeJson(value),
    })(name);

/**
 * For data sent to a provider or shown to the model's tools: it keeps its exact text. `jsonb` reorders object members,
 * and a prompt read back from it would miss the provider's cache.
 */
export const json = encoded('json');
export const jsonb = encoded('jsonb');

/** Billionths of a US dollar. Null: the price is not known. */
export const cost = () => bigint('cost_nanos', { mode: 'number' });

export const counter = (name: string) => bigint(name, { mode: 'number' }).notNull().default(0);

/** The usage of every model call so far. */
export const usageCounters = () => ({
  inputTokens: counter('input_tokens'),
  outputTokens: counter('output_tokens'),
  cacheReadTokens: counter('cache_read_tokens'),
  cacheWriteTokens: counter('cache_write_tokens'),
  costNanos: cost(),
});

export const oneOf = (column: string, values: readonly string[]) =>
  sql.raw(`${column} in (${values.map((value) => `'${value}'`).join(', ')})`);
