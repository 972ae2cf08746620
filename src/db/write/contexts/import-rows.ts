/** The rows that an import inserts. In the SQL, `r` is a given row and `ctx` the imported context. */
import { sql, type SQL } from 'drizzle-orm';
import type { JobId, MessageId } from '../../../core/ids.ts';
import type { Executor } from '../../connection/client.ts';
import { toTimestamp } from '../../connection/instant.ts';
import { modelColumns } from '../../model-calls/model-meta.ts';
import { usageOf } from '../../model-calls/usage.ts';
import type { StoredBranch, StoredCompaction, StoredMessage } from '../../read/messages/export.ts';
import { EncodedJson } from '../../rows/encoded-json.ts';
import { recordset } from '../../rows/recordset.ts';
import { written } from '../../rows/written-columns.ts';
import { compactionColumns } from '../../run/compactions.ts';
import type { Place } from '../../run/places.ts';
import { branches } from '../../schema/branches.ts';
import { compactions } from '../../schema/compactions.ts';
import { eventBatches, type BatchedEvent } from '../../schema/events.ts';
import { messages } from '../../schema/messages.ts';

/** The columns that every row takes from its context. */
const OF_CONTEXT = { tenantId: sql`ctx.tenant_id`, contextId: sql`ctx.id` };

function contextOf({ tenantId, contextId }: Place): SQL {
  return sql`ctx as (select ${contextId}::uuid as id, ${tenantId}::bigint as tenant_id)`;
}

type ImportedMessage = Omit<StoredMessage, 'content'> & {
  id: MessageId;
  content: EncodedJson<StoredMessage['content']>;
};

const MESSAGE = written<typeof messages, ImportedMessage>(
  messages,
  {
    ...OF_CONTEXT,
    id: ({ id }) => id,
    branch: ({ branch }) => branch,
    seq: ({ seq }) => seq,
    role: ({ role }) => role,
    type: ({ type }) => type,
    turn: ({ turn }) => turn,
    status: ({ status }) => status,
    retraction: ({ retraction }) => retraction,
    content: ({ content }) => content,
    ...modelColumns(({ model }: ImportedMessage) => model),
    attempt: ({ model, attempt }) => (model === null ? null : attempt),
    calledAt: ({ model, calledAt }) => (model === null ? null : calledAt),
    firstByteAt: ({ model, firstByteAt }) => (model === null ? null : firstByteAt),
    createdAt: ({ createdAt }) => createdAt,
    completedAt: ({ completedAt }) => completedAt,
    appendedAt: sql`now()`,
  },
  { given: 'r' },
);
const MESSAGES = recordset('r', MESSAGE.fields);

/** `row`: its JSON. `bytes`: those of its content. */
export function encodeMessage(id: MessageId, message: StoredMessage): { row: string; bytes: number } {
  const content = new EncodedJson(message.content);
  return { row: MESSAGES.encode({ ...message, id, content }), bytes: content.bytes };
}

/** `encoded`: rows of messages, each by `encodeMessage`. */
export async function insertMessages(tx: Executor, place: Place, encoded: readonly string[]): Promise<void> {
  await tx.execute(sql`/* messages.import */
    with ${contextOf(place)} ${sql.raw(MESSAGE.insert)} from ctx, ${MESSAGES.tableOf(encoded)}`);
}

/** Its job id belongs to no stored job. */
type ImportedCompaction = StoredCompaction & { id: string; jobId: JobId };

const COMPACTION = written<typeof compactions, ImportedCompaction>(
  compactions,
  {
    ...OF_CONTEXT,
    ...compactionColumns,
    seq: ({ seq }) => seq,
    createdAt: ({ createdAt }) => createdAt,
  },
  { given: 'r' },
);
const COMPACTIONS = recordset('r', COMPACTION.fields);

function compactedBy(made: ImportedCompaction): BatchedEvent[2] {
  return {
    compaction_id: made.id,
    branch: made.branch,
    type: made.type,
    upto_seq: made.uptoSeq,
    tokens_before: made.tokensBefore,
    tokens_after: made.tokensAfter,
    job_id: made.jobId,
    model: made.model,
    usage: null,
    attempt: 1,
    started_at: toTimestamp(made.createdAt),
    first_token_at: null,
  };
}

const EVENT = written<typeof eventBatches, ImportedCompaction>(
  eventBatches,
  {
    ...OF_CONTEXT,
    firstSeq: ({ seq }) => seq,
    seq: ({ seq }) => seq,
    epoch: sql`0`,
    events: (made) => [[0, 'ContextCompacted', compactedBy(made)]],
    createdAt: ({ createdAt }) => createdAt,
  },
  { given: 'r' },
);
const EVENTS = recordset('r', EVENT.fields);

/** Also inserts its `ContextCompacted` event, with the same number. */
export async function insertCompaction(tx: Executor, place: Place, compaction: ImportedCompaction): Promise<void> {
  await tx.execute(sql`/* compactions.import */
    with ${contextOf(place)}, made as (
      ${sql.raw(COMPACTION.insert)} from ctx, ${COMPACTIONS.table([compaction])}
    )
    ${sql.raw(EVENT.insert)} from ctx, ${EVENTS.table([compaction])}`);
}

const BRANCH = written<typeof branches, StoredBranch>(
  branches,
  {
    ...OF_CONTEXT,
    name: ({ name }) => name,
    parentName: ({ parentName }) => parentName,
    forkSeq: ({ forkSeq }) => forkSeq,
    spans: ({ spans }) => spans,
    messageCount: ({ messageCount }) => messageCount,
    requestCount: ({ requestCount }) => requestCount,
    ...usageOf(({ usage }: StoredBranch) => usage),
    createdAt: ({ createdAt }) => createdAt,
  },
  { given: 'r' },
);
const BRANCHES = recordset('r', BRANCH.fields);

/** Replaces the branches that the context was created with. */
export async function replaceBranches(tx: Executor, place: Place, rows: readonly StoredBranch[]): Promise<void> {
  await tx.execute(sql`/* branches.delete_for_import */
    delete from branches where context_id = ${place.contextId} and tenant_id = ${place.tenantId}`);
  await tx.execute(sql`/* branches.import */
    with ${contextOf(place)} ${sql.raw(BRANCH.insert)} from ctx, ${BRANCHES.table(rows)}`);
}
