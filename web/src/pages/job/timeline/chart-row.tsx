/** One row of the chart. */
import { Link } from '@tanstack/react-router';
import * as Icon from 'lucide-react';
import { memo, useId, type CSSProperties } from 'react';
import { Badge } from '../../../ui/text/badge.tsx';
import { classes } from '../../../ui/classes.ts';
import { Button } from '../../../ui/forms/button.tsx';
import { StatusBadge } from '../../../ui/text/status-badge.tsx';
import { formatDuration } from '../../../ui/text/time.tsx';
import { Tooltip } from '../../../ui/layout/tooltip.tsx';
import css from './chart.module.css';
import { RowDetails } from './row-details.tsx';
import { LATER, type Part } from './rows/critical-path.ts';
import type { ChildRow, Row } from './rows/rows.ts';
import { isWait, type Stretch } from './rows/stretches.ts';
import type { ShownRow } from './rows/tree.ts';
import { place as placeIn, type Span } from './span.ts';
import { commonWords, stretchWords, timelineWords } from '../../../words.ts';

const words = timelineWords.row;

const ICONS = {
  model: Icon.Sparkles,
  tool: Icon.Wrench,
  wait: Icon.Hourglass,
  compact: Icon.FoldVertical,
  queue: Icon.ListStart,
  child: Icon.Network,
} as const;

/** Stretches that the tooltip of a row lists; the details have all. */
const MOST_TOLD = 8;

/** Where a row is in the list. */
type RowPlace = { level: number; index: number; count: number };

/** What the chart shows of all rows. */
type View = { span: Span; now: number; ticks: readonly { at: number }[] };

export type RowActions = {
  /** Opens or closes the steps of a child job. */
  onTurn: (jobId: string) => void;
  /** Opens or closes the details of the row with this key. */
  onDetails: (key: string) => void;
  onZoom: (row: Row) => void;
};

type Props = {
  shown: Extract<ShownRow, { kind: 'row' }>;
  index: number;
  count: number;
  /** The Tab key reaches it. */
  isCurrent: boolean;
  /** The parts of it that are on the critical path. */
  parts: readonly Part[];
  view: View;
  hasDetails: boolean;
  actions: RowActions;
};

export const ChartRow = memo(function ChartRow(props: Props) {
  const { shown, index, count, isCurrent, parts, view, hasDetails, actions } = props;
  const { row, jobId, key, level } = shown;
  const { span, now, ticks } = view;
  const detailsId = useId();
  const Kind = ICONS[row.kind === 'step' ? row.step.kind : row.kind];
  const took = formatDuration((row.to ?? now) - row.from);
  const tabIndex = isCurrent ? 0 : -1;
  return (
    <div {...itemOf({ level, index, count })} className={css.row}>
      <div className={css.whole}>
        <Tooltip text={textOf(row, now)}>
          <button
            type="button"
            className={css.line}
            tabIndex={tabIndex}
            aria-expanded={hasDetails}
            aria-controls={detailsId}
            onClick={() => actions.onDetails(key)}
          >
            <span className={css.label}>
              <Kind aria-hidden="true" />
              <span className={css.name}>{row.name}</span>
              {row.kind === 'step' && row.failed.length > 0 && (
                <span className={css.attempt}>{words.attempts(row.failed.length + 1)}</span>
              )}
              <Standing row={row} />
            </span>
            <span className={css.track} data-status={row.status}>
              {ticks.map(({ at }) => (
                <span key={at} className={css.grid} style={{ left: `${placeIn(span, at)}%` }} />
              ))}
              {row.stretches.map((stretch) => (
                <Bar key={`${stretch.kind} ${stretch.from}`} stretch={stretch} span={span} now={now} />
              ))}
              {parts.map(({ from, to }) => (
                <CriticalPart key={from} from={from} to={to === LATER ? now : to} span={span} />
              ))}
            </span>
            <span className={css.took}>{took}</span>
            {parts.length > 0 && <span className={css.hidden}>{words.onCriticalPath}</span>}
          </button>
        </Tooltip>
        {row.kind === 'child' && (
          <>
            <button
              type="button"
              className={css.turn}
              tabIndex={tabIndex}
              aria-expanded={shown.isOpen}
              aria-label={shown.isOpen ? words.hideSteps(row.name) : words.showSteps(row.name)}
              onClick={() => actions.onTurn(row.job.job_id)}
            >
              <Icon.ChevronRight aria-hidden="true" />
            </button>
            <ChildLink row={row} span={span} now={now} tabIndex={tabIndex} />
          </>
        )}
      </div>
      <div id={detailsId} hidden={!hasDetails} className={css.details}>
        {hasDetails && <RowDetails jobId={jobId} row={row} now={now} onZoom={() => actions.onZoom(row)} />}
      </div>
    </div>
  );
});

/** In place of the steps of an open child job. */
export function ChartNote({
  shown: { jobId, level, of, note },
  index,
  count,
  onRetry,
}: {
  shown: Extract<ShownRow, { kind: 'note' }>;
  index: number;
  count: number;
  /** Reads the steps of the child job again. */
  onRetry: (jobId: string) => void;
}) {
  return (
    <div {...itemOf({ level, index, count })} className={css.row}>
      <p className={css.note} role="status">
        {words.notes[note](of.name)}{' '}
        {note === 'failed' && (
          <Button size="small" onClick={() => onRetry(jobId)}>
            {commonWords.retry}
          </Button>
        )}
      </p>
    </div>
  );
}

/** The attributes of a list item of which the list has only some in the DOM. */
function itemOf({ level, index, count }: RowPlace) {
  return {
    role: 'listitem',
    'aria-level': level,
    'aria-posinset': index + 1,
    'aria-setsize': count,
    'data-row': index,
    style: { '--level': level - 1 } as CSSProperties,
  };
}

function textOf({ stretches }: Row, now: number): string {
  const told = stretches.slice(0, MOST_TOLD).map(({ kind, from, to, note }) => {
    const reason = note === undefined ? '' : ` (${note})`;
    return `${stretchWords[kind]}: ${formatDuration((to ?? now) - from)}${reason}`;
  });
  const more = stretches.length - told.length;
  return [...told, ...(more > 0 ? [words.moreStretches(more)] : [])].join(' · ');
}

/** Badge for the current wait, or for a status other than `completed`. */
function Standing({ row: { status, stretches } }: { row: Row }) {
  const last = stretches.at(-1);
  if (last !== undefined && last.to === null && isWait(last.kind))
    return (
      <Badge tone="amber" dot="still">
        {stretchWords[last.kind]}
      </Badge>
    );
  return status === 'completed' ? null : <StatusBadge status={status} />;
}

function Bar({ stretch: { kind, from, to }, span, now }: { stretch: Stretch; span: Span; now: number }) {
  const bounds = boundsOf(span, from, to ?? now);
  if (bounds === null) return null;
  return <span className={classes(css.bar, css[kind], to === null && css.live)} style={bounds} data-stretch={kind} />;
}

function CriticalPart({ from, to, span }: Part & { span: Span }) {
  const bounds = boundsOf(span, from, to);
  return bounds === null ? null : <span className={css.critical} style={bounds} data-critical="" />;
}

/** Link over the bar of a child worker to the timeline of its job. */
function ChildLink({ row, span, now, tabIndex }: { row: ChildRow; span: Span; now: number; tabIndex: number }) {
  const bounds = boundsOf(span, row.from, row.to ?? now);
  if (bounds === null) return null;
  return (
    <span className={css.over}>
      <Link
        to="/jobs/$jobId"
        params={{ jobId: row.job.job_id }}
        search={{ tab: 'timeline' }}
        className={css.link}
        style={bounds}
        tabIndex={tabIndex}
        aria-label={words.timelineOf(row.name)}
      />
    </span>
  );
}

/** Null if the stretch lies outside the span. A bar of minimum width at the end stays inside. */
function boundsOf(span: Span, from: number, to: number): CSSProperties | null {
  if (to < span.from || from > span.to) return null;
  const left = placeIn(span, from);
  return { left: `min(${left}%, calc(100% - var(--least)))`, width: `${placeIn(span, to) - left}%` };
}
