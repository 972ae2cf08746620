import { sql } from 'drizzle-orm';
import { bigint, check, index, integer, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import type { Block } from '../../core/conversation/blocks.ts';
import type { Retraction } from '../../core/conversation/retraction.ts';
import { MESSAGE_ROLES, MESSAGE_TYPES } from '../../core/conversation/message.ts';
import type { Fingerprint } from '../../core/model/fingerprint.ts';
import type { ThrottledWait } from '../../core/run/throttle.ts';
import type { EndedCall } from './calls.ts';
import { cost, instant, json, jsonb, oneOf, tenantId } from './columns.ts';

/** Immutable entries. An input that is delayed or queued has no sequence number yet. */
export const messages = pgTable(
  'messages',
  {
    id: uuid('id').primaryKey(),
    tenantId: tenantId(),
    contextId: uuid('context_id').notNull(),
    branch: text('branch').notNull(),
    seq: bigint('seq', { mode: 'number' }),
    role: text('role').notNull(),
    type: text('type').notNull(),
    turn: text('turn'),
    status: text('status').notNull(),
    content: json<Block[]>('content').notNull(),
    /** The size of its content, known without reading the content. */
    bytes: integer('bytes')
      .notNull()
      .generatedAlwaysAs(sql`octet_length(content::text)`),
    jobId: uuid('job_id'),
    /** Of a result: its call, if that ended within the same append (see calls.ts). */
    call: json<EndedCall>('call'),
    /** The worker that sent this input. Null: a client sent it. */
    senderWorkerId: uuid('sender_worker_id'),
    modelId: text('model_id'),
    providerId: text('provider_id'),
    inputTokens: integer('input_tokens'),
    outputTokens: integer('output_tokens'),
    cacheReadTokens: integer('cache_read_tokens'),
    cacheWriteTokens: integer('cache_write_tokens'),
    costNanos: cost(),
    finishReason: text('finish_reason'),
    /** The model call that produced it: its attempt, when the request was sent, and when the first byte arrived. */
    attempt: integer('attempt'),
    calledAt: instant('called_at'),
    firstByteAt: instant('first_byte_at'),
    /** Its wait for a throttle, before it started; null: none. */
    throttled: jsonb<ThrottledWait>('throttled'),
    /** The fingerprint of that call's request. */
    prompt: jsonb<Fingerprint>('prompt'),
    /** The last number of its context when it was retracted. Null: it was not, or was stored so (`partial`, an import). */
    retractedSeq: bigint('retracted_seq', { mode: 'number' }),
    /** Why it was retracted, and by whom. Null: it was not, or that is not known. */
    retraction: jsonb<Retraction>('retraction'),
    createdAt: instant('created_at').notNull().defaultNow(),
    completedAt: instant('completed_at'),
    /** When it entered the history, if it was complete before. */
    appendedAt: instant('appended_at'),
  },
  (t) => [
    uniqueIndex('messages_seq')
      .on(t.contextId, t.seq)
      .where(sql`${t.seq} is not null`),
    index('messages_branch').on(t.contextId, t.branch, t.seq),
    check('messages_role', oneOf('role', MESSAGE_ROLES)),
    check('messages_type', oneOf('type', MESSAGE_TYPES)),
    check('messages_status', oneOf('status', ['delayed', 'queued', 'completed', 'retracted', 'withdrawn'])),
    check('messages_numbered', sql`(${t.status} in ('completed', 'retracted')) = (${t.seq} is not null)`),
    check('messages_turn', sql`(${t.status} in ('completed', 'retracted')) = (${t.turn} is not null)`),
    check('messages_call', sql`${t.call} is null or ${t.role} = 'tool'`),
    check('messages_retracted', sql`${t.retractedSeq} is null or ${t.status} = 'retracted'`),
    check('messages_retraction', sql`${t.retraction} is null or ${t.status} = 'retracted'`),
    check('messages_partial', sql`${t.type} <> 'partial' or (${t.status} = 'retracted' and ${t.role} = 'assistant')`),
    check('messages_only_inputs_queue', sql`${t.status} in ('completed', 'retracted') or ${t.role} = 'user'`),
  ],
);
