/** How much of the context limit the last prompt and its answer take, and what the context has cost so far. */
import { useQuery } from '@tanstack/react-query';
import type { Context, ContextCompaction, Message } from 'nightshift/client';
import { useMessages } from '../../data/query/messages.ts';
import { promptLimitsQuery } from '../../data/query/workers.ts';
import { formatCost } from '../../ui/text/cost.ts';
import { formatCount } from '../../ui/text/tokens.tsx';
import { chatWords } from '../../words.ts';
import { useCompactionMarks } from './messages/compaction-marks.ts';
import css from './context-gauge.module.css';

const words = chatWords.gauge;

const exact = new Intl.NumberFormat('en');
/** From here on little room is left, whatever the compaction does. */
const FULL = 0.95;

export function ContextGauge({ context }: { context: Context }) {
  const { query } = useMessages(context.id, context.active_branch);
  const marks = useCompactionMarks(context.id, context.active_branch);
  const { data: limits } = useQuery(promptLimitsQuery(context.worker_id, context.config));
  const window = query.data;
  const tokens = window === undefined || window.hasNewer ? null : tokensOf(window.messages, marks);
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
    tokens: exact.format(tokens),
    most: exact.format(most),
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

/** Of the last model call with its answer, or of the prompt after a later compaction. Null: neither is known. */
function tokensOf(messages: readonly Message[], marks: readonly ContextCompaction[]): number | null {
  const last = messages.findLast(({ usage, status }) => usage !== null && status === 'completed');
  const newest = marks.toSorted((a, b) => a.seq - b.seq).at(-1);
  if (newest !== undefined && newest.seq > (last?.seq ?? 0)) return newest.tokens_after;
  if (last?.usage == null) return null;
  const { input_tokens, cache_read_tokens, cache_write_tokens, output_tokens } = last.usage;
  return input_tokens + cache_read_tokens + cache_write_tokens + output_tokens;
}
