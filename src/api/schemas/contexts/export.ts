/** The lossless export of a context as a document, readable and importable. Entries have numbers, not ids. */
import { Type, type Static } from 'typebox';
import { BRANCH_NAME } from '../../../core/conversation/branch.ts';
import { RETRACTION_CAUSES } from '../../../core/conversation/retraction.ts';
import { MESSAGE_ROLES, MESSAGE_TYPES } from '../../../core/conversation/message.ts';
import { AnyJson, Count, Instant, Positive, Title, byType, described } from '../common.ts';
import { nullable, oneOf, plainText, ref, strict } from '../../../schema/build.ts';
import { COST, TURN } from '../../../schema/patterns.ts';
import { RoleName, WorkerConfig } from '../../../schema/config.ts';
import {
  DocumentBlock,
  ImageBlock,
  TextBlock,
  ThinkingBlock,
  ToolResultBlock,
  ToolUseBlock,
} from '../messages/message.ts';
import { CreateWorker } from '../workers/worker.ts';

export const EXPORT_FORMAT = 'nightshift.context';
export const EXPORT_VERSION = 1;

const Provider = Type.Optional(strict({ name: Type.String(), data: AnyJson, model: Type.Optional(Type.String()) }));

export const StoredText = strict({ ...TextBlock.properties, provider: Provider }, { $id: 'StoredText' });
export const StoredThinking = strict({ ...ThinkingBlock.properties, provider: Provider }, { $id: 'StoredThinking' });
export const StoredToolUse = strict({ ...ToolUseBlock.properties, provider: Provider }, { $id: 'StoredToolUse' });
export const StoredImage = strict(ImageBlock.properties, { $id: 'StoredImage' });
export const StoredDocument = strict(DocumentBlock.properties, { $id: 'StoredDocument' });
export const StoredResultPart = byType('StoredResultPart', [StoredText, StoredImage]);
export const StoredToolResult = strict(
  {
    ...ToolResultBlock.properties,
    content: Type.Union([Type.String(), Type.Array(ref(StoredResultPart))]),
  },
  { $id: 'StoredToolResult' },
);
/** Stored blocks, including data that only their provider understands. */
export const StoredBlock = byType('StoredBlock', [
  StoredText,
  StoredThinking,
  StoredToolUse,
  StoredToolResult,
  StoredImage,
  StoredDocument,
]);

/** Limits of counts for one message and for a whole context: they fit the database columns, with room to grow. */
const Amount = Type.Integer({ minimum: 0, maximum: 2_147_483_647 });
const Total = Type.Integer({ minimum: 0, maximum: 1_000_000_000_000_000 });
const usageOf = (each: typeof Amount) =>
  strict({
    input_tokens: each,
    output_tokens: each,
    cache_read_tokens: each,
    cache_write_tokens: each,
    cost: Type.Optional(
      Type.String({
        pattern: COST,
        description: 'US dollars, at the prices at the time of each call. Missing: no known price.',
      }),
    ),
  });
const TotalsUsed = usageOf(Total);
export type ExportedUsage = Static<typeof TotalsUsed>;
const BranchName = Type.String({ pattern: BRANCH_NAME });

export const ExportedMessage = strict(
  {
    type: Type.Literal('message'),
    number: Positive,
    branch: BranchName,
    role: oneOf(MESSAGE_ROLES),
    message_type: oneOf(MESSAGE_TYPES),
    turn: Type.String({ pattern: TURN }),
    status: oneOf(['completed', 'retracted']),
    retraction: Type.Optional(strict({ cause: oneOf(RETRACTION_CAUSES), at: Instant })),
    content: Type.Array(ref(StoredBlock)),
    created_at: Instant,
    completed_at: nullable(Instant),
    model: nullable(
      strict({
        model_id: plainText(1_000),
        provider_id: plainText(1_000),
        finish_reason: plainText(1_000),
        usage: usageOf(Amount),
        attempt: nullable(Amount),
        called_at: nullable(Instant),
        first_byte_at: nullable(Instant),
      }),
    ),
  },
  { $id: 'ExportedMessage' },
);
export type ExportedMessage = Static<typeof ExportedMessage>;

export const ExportedCompaction = strict(
  {
    type: Type.Literal('compaction'),
    number: Positive,
    branch: BranchName,
    compactor: oneOf(['threshold', 'llm']),
    upto: described(Count, 'Number of the last replaced entry.'),
    summary: nullable(plainText(10_000_000)),
    model: nullable(plainText(1_000)),
    tokens_before: Amount,
    tokens_after: Amount,
    created_at: Instant,
  },
  { $id: 'ExportedCompaction' },
);
export type ExportedCompaction = Static<typeof ExportedCompaction>;

export const ExportedEntry = byType('ExportedEntry', [ExportedMessage, ExportedCompaction]);
export type ExportedEntry = Static<typeof ExportedEntry>;

const Counters = { message_count: Total, request_count: Total, usage: TotalsUsed };

export const ExportedBranch = strict(
  {
    name: BranchName,
    parent: nullable(BranchName),
    fork: nullable(described(Count, 'Number of the last entry shared with its parent.')),
    spans: nullable(
      Type.Array(
        strict({
          branch: BranchName,
          after: Count,
          upto: nullable(Count),
        }),
      ),
    ),
    ...Counters,
    created_at: Instant,
  },
  {
    $id: 'ExportedBranch',
    description:
      'Shows the entries of each span: those of `branch` with `after < number <= upto`. Without spans, all entries of its own name.',
  },
);
export type ExportedBranch = Static<typeof ExportedBranch>;

export const ExportedContext = strict(
  {
    title: nullable(Title),
    worker: strict({ name: CreateWorker.properties.name, role: nullable(RoleName) }),
    config: ref(WorkerConfig),
    active_branch: BranchName,
    turn_count: Total,
    ...Counters,
    created_at: Instant,
  },
  { $id: 'ExportedContext' },
);
export type ExportedContext = Static<typeof ExportedContext>;

export const ContextExport = strict(
  {
    format: Type.Literal(EXPORT_FORMAT),
    version: Type.Literal(EXPORT_VERSION),
    context: ref(ExportedContext),
    entries: Type.Array(ref(ExportedEntry)),
    branches: Type.Array(ref(ExportedBranch)),
  },
  { $id: 'ContextExport', description: 'The full history in order, numbered without gaps.' },
);

export const Pair = strict(
  { user: Type.Optional(Type.String()), assistant: Type.Optional(Type.String()) },
  { $id: 'Pair', description: 'Text of the user, of the assistant, or both.' },
);
export type Pair = Static<typeof Pair>;

export const PairedExport = strict(
  { title: Type.Optional(nullable(Title)), entries: Type.Array(ref(Pair)) },
  { $id: 'PairedExport' },
);

export const ExportQuery = strict({
  format: Type.Unsafe<'json' | 'markdown' | 'paired'>({
    type: 'string',
    enum: ['json', 'markdown', 'paired'],
    default: 'json',
  }),
});
