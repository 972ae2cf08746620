/** Compactions in the API: requests and results. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { KEEP_TURNS } from '../../../core/compaction/settings.ts';
import { COMPACTION_TYPES, COMPACTOR_TYPES } from '../../../core/compaction/type.ts';
import { Count, Instant, Page, Uuid, listOf, nullable, oneOf, strict } from '../common.ts';

const KEPT = 'Number of last turns that stay uncompacted; with 0 only the last answer does.';

const keepTurns = (description: string) =>
  Type.Integer({ minimum: 0, maximum: KEEP_TURNS.most, description });

const ModelName = Type.String({
  minLength: 1,
  maxLength: 256,
  description: 'The model that writes the summary, as provider/model.',
});

export const Compaction = strict(
  {
    type: Type.Optional(
      oneOf(
        COMPACTION_TYPES,
        'threshold (the default): prompts show summaries of old tool results. llm: a model summarises old turns. none: a prompt that is too long fails the job.',
      ),
    ),
    threshold: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 1,
        description: 'Share of context_limit that starts a compaction. Default: 0.8.',
      }),
    ),
    keep_turns: Type.Optional(keepTurns(`${KEPT} Default: 4.`)),
    model: Type.Optional(ModelName),
  },
  { $id: 'Compaction', description: 'Keeps prompts within context_limit.' },
);

export const CompactContext = strict(
  {
    type: Type.Optional(oneOf(COMPACTOR_TYPES)),
    keep_turns: Type.Optional(keepTurns(KEPT)),
    model: Type.Optional(ModelName),
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
    description:
      'The requested settings, and the prompt tokens before and after. Both null: nothing was compacted.',
  },
);
export type JobCompaction = Static<typeof JobCompaction>;

export const ContextCompaction = strict(
  {
    id: Uuid,
    context_id: Uuid,
    branch: Type.String(),
    seq: Type.Integer({ minimum: 1, description: 'seq of its event.' }),
    upto_seq: Type.Integer({ minimum: 1, description: 'seq of the last replaced message.' }),
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

export const CompactionQuery = strict(Page);
