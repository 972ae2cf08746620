/** Gantt chart of a job. Each row expands to its details. */
import { ChevronLeft, ChevronRight, Maximize, ZoomIn, ZoomOut } from 'lucide-react';
import { useState, type KeyboardEvent } from 'react';
import { IconButton } from '../../ui/forms/button.tsx';
import { classes } from '../../ui/classes.ts';
import { useNow } from '../../ui/state/clock.ts';
import css from './chart.module.css';
import { ChartRow } from './chart-row.tsx';
import { STRETCHES, extentOf, type Row, type StretchKind } from './rows.ts';
import { around, move, place, ticksOf, zoom, type Span } from './span.ts';

const TICKS = 8;

/** Effectively disables the clock: the chart of a finished job is not rendered again. */
const NEVER_MS = 1e15;

export function Chart({ rows }: { rows: readonly Row[] }) {
  const isLive = rows.some(({ to }) => to === null);
  const now = useNow(isLive ? 1_000 : NEVER_MS);
  // Null: the whole span, also while it grows.
  const [chosen, setChosen] = useState<Span | null>(null);
  const [openRow, setOpenRow] = useState<string | null>(null);
  const whole = extentOf(rows, now);
  const span = chosen ?? whole;
  const change = (next: Span): void => setChosen(next.from <= whole.from && next.to >= whole.to ? null : next);
  const press = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = spanAfter(event.key, span, whole);
    if (next === null) return;
    event.preventDefault();
    change(next);
  };
  const ticks = ticksOf(span, whole.from, TICKS);
  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- shortcuts for its buttons
    <div className={css.chart} onKeyDown={press}>
      <div className={css.tools} role="toolbar" aria-label="Chart controls">
        <Legend rows={rows} />
        <IconButton
          label="Earlier"
          keys="←"
          size="small"
          disabled={chosen === null}
          onClick={() => change(move(span, -0.5, whole))}
        >
          <ChevronLeft />
        </IconButton>
        <IconButton
          label="Later"
          keys="→"
          size="small"
          disabled={chosen === null}
          onClick={() => change(move(span, 0.5, whole))}
        >
          <ChevronRight />
        </IconButton>
        <IconButton label="Zoom in" keys="+" size="small" onClick={() => change(zoom(span, 2, whole))}>
          <ZoomIn />
        </IconButton>
        <IconButton
          label="Zoom out"
          keys="-"
          size="small"
          disabled={chosen === null}
          onClick={() => change(zoom(span, 0.5, whole))}
        >
          <ZoomOut />
        </IconButton>
        <IconButton label="Show all" keys="0" size="small" disabled={chosen === null} onClick={() => setChosen(null)}>
          <Maximize />
        </IconButton>
      </div>
      <div className={css.axis} aria-hidden="true">
        {ticks.map(({ at, label }) => (
          <span key={at} className={css.tick} data-edge={place(span, at) > 95} style={{ left: `${place(span, at)}%` }}>
            {label}
          </span>
        ))}
      </div>
      <ol className={css.rows} aria-label="Steps">
        {rows.map((row) => (
          <ChartRow
            key={row.id}
            row={row}
            span={span}
            now={now}
            ticks={ticks}
            isOpen={openRow === row.id}
            onTurn={() => setOpenRow(openRow === row.id ? null : row.id)}
            onZoom={() => change(around({ from: row.from, to: row.to ?? now }, whole))}
          />
        ))}
      </ol>
    </div>
  );
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

/** Lists only the kinds that occur. */
function Legend({ rows }: { rows: readonly Row[] }) {
  const found = new Set(rows.flatMap(({ stretches }) => stretches.map(({ kind }) => kind)));
  const kinds = (Object.keys(STRETCHES) as StretchKind[]).filter((kind) => found.has(kind));
  return (
    <ul className={css.legend} aria-label="Colours">
      {kinds.map((kind) => (
        <li key={kind}>
          <span className={classes(css.swatch, css[kind])} aria-hidden="true" />
          {STRETCHES[kind]}
        </li>
      ))}
    </ul>
  );
}
