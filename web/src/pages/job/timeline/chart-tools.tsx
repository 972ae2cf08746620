/** The legend of the chart, and the buttons that zoom and move it. */
import { ChevronLeft, ChevronRight, Maximize, Route, ZoomIn, ZoomOut } from 'lucide-react';
import { classes } from '../../../ui/classes.ts';
import { Button, IconButton } from '../../../ui/forms/button.tsx';
import { Tooltip } from '../../../ui/layout/tooltip.tsx';
import css from './chart.module.css';
import type { ShownRow } from './rows/tree.ts';
import type { Span } from './span.ts';
import { stretchWords, timelineWords, type StretchKind } from '../../../words.ts';

const words = timelineWords.chart;

type Props = {
  shown: readonly ShownRow[];
  /** Null: the whole span is shown. */
  span: Span | null;
  onEarlier: () => void;
  onLater: () => void;
  onZoom: (by: number) => void;
  onWhole: () => void;
  showsPath: boolean;
  onPath: () => void;
};

export function ChartTools({ shown, span, onEarlier, onLater, onZoom, onWhole, showsPath, onPath }: Props) {
  const isWhole = span === null;
  return (
    <div className={css.tools} role="toolbar" aria-label={words.controls}>
      <Legend shown={shown} showsPath={showsPath} />
      <div className={css.buttons}>
        <Tooltip text={words.criticalPathAbout}>
          <Button size="small" variant="quiet" aria-pressed={showsPath} className={css.path} onClick={onPath}>
            <Route aria-hidden="true" /> {words.criticalPath}
          </Button>
        </Tooltip>
        <IconButton label={words.earlier} keys="←" size="small" disabled={isWhole} onClick={onEarlier}>
          <ChevronLeft />
        </IconButton>
        <IconButton label={words.later} keys="→" size="small" disabled={isWhole} onClick={onLater}>
          <ChevronRight />
        </IconButton>
        <IconButton label={words.zoomIn} keys="+" size="small" onClick={() => onZoom(2)}>
          <ZoomIn />
        </IconButton>
        <IconButton label={words.zoomOut} keys="-" size="small" disabled={isWhole} onClick={() => onZoom(0.5)}>
          <ZoomOut />
        </IconButton>
        <IconButton label={words.showAll} keys="0" size="small" disabled={isWhole} onClick={onWhole}>
          <Maximize />
        </IconButton>
      </div>
    </div>
  );
}

/** Lists only the kinds that occur. */
function Legend({ shown, showsPath }: { shown: readonly ShownRow[]; showsPath: boolean }) {
  const found = new Set<StretchKind>();
  for (const one of shown) if (one.kind === 'row') for (const { kind } of one.row.stretches) found.add(kind);
  const kinds = (Object.keys(stretchWords) as StretchKind[]).filter((kind) => found.has(kind));
  return (
    <ul className={css.legend} aria-label={words.legend}>
      {kinds.map((kind) => (
        <li key={kind}>
          <span className={classes(css.swatch, css[kind])} aria-hidden="true" />
          {stretchWords[kind]}
        </li>
      ))}
      {showsPath && (
        <li>
          <span className={classes(css.swatch, css.critical)} aria-hidden="true" />
          {words.criticalPath}
        </li>
      )}
    </ul>
  );
}
