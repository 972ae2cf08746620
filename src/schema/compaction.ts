/** How a worker's prompts are kept within its context limit. */
import { Type } from 'typebox';
import { KEEP_TURNS } from '../core/compaction/settings.ts';
import { COMPACTION_TYPES } from '../core/compaction/type.ts';
import { integer, oneOf, partial } from './build.ts';

export const KEPT = 'Number of last turns that stay uncompacted; with 0 only the last answer does.';

export const keepTurns = (description: string) => integer(0, KEEP_TURNS.most, description);

export const SummaryModel = Type.String({
  minLength: 1,
  maxLength: 256,
  description: 'The model that writes the summary, as provider/model.',
});

export const Compaction = partial(
  {
    type: oneOf(
      COMPACTION_TYPES,
      'threshold (the default): prompts show summaries of old tool results. llm: a model summarises old turns. none: a prompt that is too long fails the job.',
    ),
    threshold: Type.Number({
      exclusiveMinimum: 0,
      maximum: 1,
      description: 'Share of context_limit that starts a compaction. Default: 0.8.',
    }),
    keep_turns: keepTurns(`${KEPT} Default: 4.`),
    model: SummaryModel,
  },
  { $id: 'Compaction', description: 'Keeps prompts within context_limit.' },
);
