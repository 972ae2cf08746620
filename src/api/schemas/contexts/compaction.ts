/** Compactions in the API: requests and results. */
import { Type, type Static } from 'typebox';
import { COMPACTOR_TYPES } from '../../../core/compaction/type.ts';
import { Count, Instant, Positive, UserName, Uuid, described, listOf } from '../common.ts';
import { nullable, oneOf, strict } from '../../../schema/build.ts';
import { KEPT, SummaryModel, keepTurns } from '../../../schema/compaction.ts';

export const CompactContext = strict(
  {
    type: Type.Optional(oneOf(COMPACTOR_TYPES)),
    keep_turns: Type.Optional(keepTurns(KEPT)),
    model: Type.Optional(SummaryModel),
    user: Type.Optional(UserName),
  },
  { $id: 'CompactContext', description: 'Missing fields use the compaction settings of the worker.' },
);

export const CompactAccepted = strict({ job_id: Uuid }, { $id: 'CompactAccepted' });
export type CompactAccepted = Static<typeof CompactAccepted>;

export const JobCompaction = strict(
  {
    type: nullable(oneOf(COMPACTOR_TYPES)),
    keep_turns: nullable(Count),
    model: nullable(Type.String()),
    tokens_before: nullable(Count),
    tokens_after: nullable(Count),
  },
  {
    $id: 'JobCompaction',
    description: 'The requested settings, and the prompt tokens before and after. Both null: nothing was compacted.',
  },
);
export type JobCompaction = Static<typeof JobCompaction>;

export const ContextCompaction = strict(
  {
    id: Uuid,
    context_id: Uuid,
    branch: Type.String(),
    seq: described(Positive, 'seq of its event.'),
    upto_seq: described(Positive, 'seq of the last replaced message.'),
    type: oneOf(COMPACTOR_TYPES),
    summary: nullable(Type.String({ description: 'Text that replaces those messages in prompts.' })),
    model: nullable(Type.String()),
    tokens_before: Count,
    tokens_after: Count,
    job_id: Uuid,
    created_at: Instant,
  },
  { $id: 'ContextCompaction' },
);
export type ContextCompaction = Static<typeof ContextCompaction>;

export const ContextCompactionList = listOf('ContextCompactionList', ContextCompaction);
