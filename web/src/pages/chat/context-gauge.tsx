/** How much of the context limit the last prompt and its answer take, and what the context has cost so far. */
import { useQuery } from '@tanstack/react-query';
import type { Context } from 'nightshift/client';
import { useMessages } from '../../data/query/messages.ts';
import { promptLimitsQuery } from '../../data/query/workers.ts';
import { formatCost } from '../../ui/text/cost.ts';
import { formatCount, formatFull } from '../../ui/text/tokens.tsx';
import { chatWords } from '../../words.ts';
import { useCompactionMarks } from './messages/compaction-marks.ts';
import css from './context-gauge.module.css';
import { tokensOf } from './context-tokens.ts';

const words = chatWords.gauge;

/** From here on little room is left, whatever the compaction does. */
const FULL = 0.95;

export function ContextGauge({ context }: { context: Context }) {
  const { query } = useMessages(context.id, context.active_branch);
  const marks = useCompactionMarks(context.id, context.active_branch);
  const { data: limits } = useQuery(promptLimitsQuery(context.worker_id, context.config));
  const window = query.data;
  const tokens =
    window === undefined || window.hasNewer ? null : tokensOf(context.active_branch, window.messages, marks);
  const { cost } = context.usage;
  return (
    <div className={css.figures}>
      {tokens !== null && limits != null && <Meter tokens={tokens} limits={limits} />}
      {cost !== null && (
        <span className={css.cost} title={words.costAbout(cost)}>
          {formatCost(cost)}
        </span>
      )}
    </div>
  );
}

type Limits = { tokens: number; compactsAt: number | null };

function Meter({ tokens, limits: { tokens: most, compactsAt } }: { tokens: number; limits: Limits }) {
  const share = Math.min(1, tokens / most);
  const level = share >= FULL ? 'full' : share >= (compactsAt ?? FULL) ? 'high' : 'low';
  const about = words.about({
    tokens: formatFull(tokens),
    most: formatFull(most),
    compactsAt: compactsAt === null ? null : Math.round(compactsAt * 100),
  });
  return (
    <span className={css.gauge} title={about}>
      <span
        className={css.bar}
        role="meter"
        aria-label={words.label}
        aria-valuemin={0}
        aria-valuemax={most}
        aria-valuenow={Math.min(tokens, most)}
        aria-valuetext={about}
        data-level={level}
      >
        <span className={css.fill} style={{ inlineSize: `${Math.round(share * 100)}%` }} />
      </span>
      <span className={css.text} aria-hidden="true">
        {words.of(formatCount(tokens), formatCount(most))}
      </span>
    </span>
  );
}
