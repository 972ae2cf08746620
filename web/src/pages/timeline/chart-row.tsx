import { Link } from '@tanstack/react-router';
import * as Icon from 'lucide-react';
import { useId } from 'react';
import { Badge } from '../../ui/text/badge.tsx';
import { classes } from '../../ui/classes.ts';
import { StatusBadge } from '../../ui/text/status-badge.tsx';
import { formatDuration } from '../../ui/text/time.tsx';
import { Tooltip } from '../../ui/layout/tooltip.tsx';
import css from './chart.module.css';
import { RowDetails } from './row-details.tsx';
import { STRETCHES, isWait, type Row, type Stretch } from './rows.ts';
import { place, type Span } from './span.ts';

const ICONS = {
  model: Icon.Sparkles,
  tool: Icon.Wrench,
  wait: Icon.Hourglass,
  compact: Icon.FoldVertical,
  queue: Icon.ListStart,
  child: Icon.Network,
} as const;

export function ChartRow({
  row,
  span,
  now,
  ticks,
  isOpen,
  onTurn,
  onZoom,
}: {
  row: Row;
  span: Span;
  now: number;
  ticks: readonly { at: number }[];
  isOpen: boolean;
  onTurn: () => void;
  onZoom: () => void;
}) {
  const detailsId = useId();
  const Kind = ICONS[row.kind === 'step' ? row.step.kind : row.kind];
  const took = formatDuration((row.to ?? now) - row.from);
  const stretchTexts = row.stretches.map(
    ({ kind, from, to }) => `${STRETCHES[kind]}: ${formatDuration((to ?? now) - from)}`,
  );
  const again = row.kind === 'step' ? row.again : null;
  return (
    <li className={css.row}>
      <div className={css.whole}>
        <Tooltip text={stretchTexts.join(' · ')}>
          <button type="button" className={css.line} aria-expanded={isOpen} aria-controls={detailsId} onClick={onTurn}>
            <span className={css.label}>
              <Kind aria-hidden="true" />
              <span className={css.name}>{row.name}</span>
              {again !== null && <span className={css.attempt}>attempt {again}</span>}
              <Standing row={row} />
            </span>
            <span className={css.track} data-status={row.status}>
              {ticks.map(({ at }) => (
                <span key={at} className={css.grid} style={{ left: `${place(span, at)}%` }} />
              ))}
              {row.stretches.map((stretch) => (
                <Bar key={`${stretch.kind} ${stretch.from}`} stretch={stretch} span={span} now={now} />
              ))}
            </span>
            <span className={css.took}>{took}</span>
          </button>
        </Tooltip>
        {row.kind === 'child' && <ChildLink row={row} span={span} now={now} />}
      </div>
      <div id={detailsId} hidden={!isOpen} className={css.details}>
        {isOpen && <RowDetails row={row} now={now} onZoom={onZoom} />}
      </div>
    </li>
  );
}

/** Badge for the current wait, or for a status other than `completed`. */
function Standing({ row: { status, stretches } }: { row: Row }) {
  const last = stretches.at(-1);
  if (last !== undefined && last.to === null && isWait(last.kind))
    return (
      <Badge tone="amber" dot="still">
        {STRETCHES[last.kind]}
      </Badge>
    );
  return status === 'completed' ? null : <StatusBadge status={status} />;
}

function Bar({ stretch: { kind, from, to }, span, now }: { stretch: Stretch; span: Span; now: number }) {
  const bounds = boundsOf(span, from, to ?? now);
  if (bounds === null) return null;
  return <span className={classes(css.bar, css[kind], to === null && css.live)} style={bounds} />;
}

/** Link over the bar of a child worker to the timeline of its job. */
function ChildLink({ row, span, now }: { row: Extract<Row, { kind: 'child' }>; span: Span; now: number }) {
  const bounds = boundsOf(span, row.from, row.to ?? now);
  if (bounds === null) return null;
  return (
    <span className={css.over}>
      <Link
        to="/jobs/$jobId"
        params={{ jobId: row.job.job_id }}
        className={css.link}
        style={bounds}
        aria-label={`Timeline of ${row.name}`}
      />
    </span>
  );
}

/** Null if the stretch lies outside the span. */
function boundsOf(span: Span, from: number, to: number): { left: string; width: string } | null {
  if (to < span.from || from > span.to) return null;
  const left = place(span, from);
  return { left: `${left}%`, width: `${place(span, to) - left}%` };
}
