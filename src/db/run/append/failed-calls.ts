/** The model call of an append, if it failed or was stopped. */
import { sql } from 'drizzle-orm';
import { plainText } from '../../connection/codec.ts';
import { failedCalls } from '../../schema/model-calls.ts';
import { insertion } from './part.ts';

export const failed = insertion('failed', failedCalls, {
  of: ({ modelCall }) => (modelCall === null || modelCall.kind === 'answered' ? [] : [modelCall]),
  columns: {
    jobId: ({ jobId }) => jobId,
    attempt: ({ attempt }) => attempt,
    contextId: sql`ctx.id`,
    tenantId: sql`ctx.tenant_id`,
    model: ({ model }) => plainText(model),
    error: (call) => (call.kind === 'failed' ? call.error : null),
    calledAt: ({ calledAt }) => calledAt,
    firstByteAt: ({ firstByteAt }) => firstByteAt,
    throttled: ({ throttled }) => throttled,
    failedAt: sql`statement_timestamp()`,
    retryAt: (call) => (call.kind === 'failed' ? call.retryAt : null),
    prompt: ({ prompt }) => prompt,
  },
  end: sql`on conflict do nothing`,
});
