/** Gantt chart of a job. Each row opens to its details, the row of a child worker also to the steps of its job. */
import { useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { Virtualizer } from 'virtua';
import { timelineWords } from '../../../words.ts';
import css from './chart.module.css';
import { ChartNote, ChartRow, type RowActions } from './chart-row.tsx';
import { ChartTools } from './chart-tools.tsx';
import { criticalPath, type CriticalPath, type Part } from './rows/critical-path.ts';
import { isOnControl, useRowFocus } from './row-focus.ts';
import { extentOf, type Row } from './rows/rows.ts';
import type { Branches, ShownRow } from './rows/tree.ts';
import { around, move, place, ticksOf, zoom, type Span } from './span.ts';

const TICKS = 8;
const ROW_HEIGHT = 32;
const AXIS_HEIGHT = 30;
/** Rows beyond the visible part, in pixels. */
const BUFFER = 160;
const NO_PATH: CriticalPath = new Map();
const NO_PARTS: readonly Part[] = [];

type Props = {
  jobId: string;
  /** The rows of the job itself. */
  rows: readonly Row[];
  shown: readonly ShownRow[];
  branches: Branches;
  now: number;
  /** Opens or closes the steps of a child job. */
  onTurn: (jobId: string) => void;
  /** Reads the steps of a child job again. */
  onRetry: (jobId: string) => void;
};

export function Chart({ jobId, rows, shown, branches, now, onTurn, onRetry }: Props) {
  // Null: the whole span, also while it grows.
  const [chosen, setChosen] = useState<Span | null>(null);
  const [openRow, setOpenRow] = useState<string | null>(null);
  const [showsPath, setShowsPath] = useState(true);
  const whole = useMemo(() => extentOf(rowsIn(shown), now), [shown, now]);
  const path = useMemo(
    () => (showsPath ? criticalPath(jobId, rows, branches) : NO_PATH),
    [showsPath, jobId, rows, branches],
  );
  const span = chosen ?? whole;
  const change = (next: Span): void => setChosen(next.from <= whole.from && next.to >= whole.to ? null : next);
  const scroller = useRef<HTMLDivElement>(null);
  const focus = useRowFocus(shown, scroller);
  const press = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || !isOnControl(event)) return;
    const next = spanAfter(event.key, span, whole);
    if (next === null) return;
    event.preventDefault();
    change(next);
  };
  const ticks = ticksOf(span, whole.from, TICKS);
  // The same for all rows, so that scrolling renders only new ones.
  const view = { span, now, ticks };
  const actions: RowActions = {
    onTurn,
    onDetails: (key) => setOpenRow(openRow === key ? null : key),
    onZoom: ({ from, to }) => change(around({ from, to: to ?? now }, whole)),
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- shortcuts for its buttons
    <div className={css.chart} onKeyDown={press}>
      <ChartTools
        shown={shown}
        span={chosen}
        onEarlier={() => change(move(span, -0.5, whole))}
        onLater={() => change(move(span, 0.5, whole))}
        onZoom={(by) => change(zoom(span, by, whole))}
        onWhole={() => setChosen(null)}
        showsPath={showsPath}
        onPath={() => setShowsPath(!showsPath)}
      />
      <div ref={scroller} className={css.scroller}>
        <div className={css.axis} aria-hidden="true">
          <div className={css.ticks}>
            {ticks.map(({ at, label }) => (
              <span
                key={at}
                className={css.tick}
                data-edge={place(span, at) > 95}
                style={{ left: `${place(span, at)}%` }}
              >
                {label}
              </span>
            ))}
          </div>
        </div>
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- arrow keys between its buttons */}
        <div role="list" aria-label={timelineWords.steps} onKeyDown={focus.press} onFocus={focus.note}>
          <Virtualizer
            data={shown}
            scrollRef={scroller}
            startMargin={AXIS_HEIGHT}
            itemSize={ROW_HEIGHT}
            bufferSize={BUFFER}
            keepMounted={focus.kept}
          >
            {(one, index) =>
              one.kind === 'note' ? (
                <ChartNote key={one.key} shown={one} index={index} count={shown.length} onRetry={onRetry} />
              ) : (
                <ChartRow
                  key={one.key}
                  shown={one}
                  index={index}
                  count={shown.length}
                  isCurrent={focus.isCurrent(index)}
                  parts={path.get(one.key) ?? NO_PARTS}
                  view={view}
                  hasDetails={openRow === one.key}
                  actions={actions}
                />
              )
            }
          </Virtualizer>
        </div>
      </div>
    </div>
  );
}

function* rowsIn(shown: readonly ShownRow[]): Iterable<Row> {
  for (const one of shown) if (one.kind === 'row') yield one.row;
}

function spanAfter(key: string, span: Span, whole: Span): Span | null {
  switch (key) {
    case '+':
    case '=':
      return zoom(span, 2, whole);
    case '-':
      return zoom(span, 0.5, whole);
    case '0':
      return whole;
    case 'ArrowLeft':
      return move(span, -0.25, whole);
    case 'ArrowRight':
      return move(span, 0.25, whole);
    default:
      return null;
  }
}
