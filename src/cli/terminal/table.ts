/**
 * Formats rows as a table. On a terminal no line is longer than the screen: spare columns are left out, then texts are
 * cut. Ids are never cut.
 */
import stringWidth from 'string-width';
import { shortIds } from '../find/ids.ts';
import { oneLine } from './safe.ts';
import type { Ink } from './ink.ts';
import { cut, padEnd, padStart } from './width.ts';

export type Column<Row> = {
  title: string;
  cell: (row: Row) => string;
  /** `cell` returns a single safe line; its spaces are kept. */
  isLine?: boolean;
  /** `cell` returns an id. */
  isId?: boolean;
  right?: boolean;
  /** Left out if the table is wider than the screen, those with the highest number first. */
  spare?: number;
  /** On a terminal, its width in columns at most. */
  most?: number;
  ink?: (row: Row, text: string, ink: Ink) => string;
};

/** `screen`: columns of the terminal; null: unlimited. */
type Space = { ink: Ink; screen: number | null; shortIds?: boolean };

type Measured<Row> = { column: Column<Row>; cells: readonly string[]; width: number };

const GAP = '  ';
/** The width of a text that is cut, at least. */
const LEAST = 6;

/** The result ends with a newline. */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], space: Space): string {
  const measured = columns.map((column) => measure(column, rows, space));
  const shown = space.screen === null ? measured : fit(withoutSpare(measured, space.screen), space.screen);
  const { ink } = space;
  const last = shown.length - 1;
  const head = shown
    .map(({ column, width }, at) =>
      ink('dim', at === last && column.right !== true ? cut(column.title, width) : fill(column, column.title, width)),
    )
    .join(GAP);
  const lines = rows.map((row, at) =>
    shown
      .map(({ column, cells, width }) => {
        const text = fill(column, cells[at] ?? '', width);
        return column.ink?.(row, text, ink) ?? text;
      })
      .join(GAP)
      .trimEnd(),
  );
  return [head, ...lines].map((line) => `${line}\n`).join('');
}

function measure<Row>(column: Column<Row>, rows: readonly Row[], { screen, shortIds: short }: Space): Measured<Row> {
  const { cell, isLine = false, isId = false, title } = column;
  const most = screen === null ? Infinity : (column.most ?? Infinity);
  const whole = rows.map((row) => (isLine ? cell(row) : oneLine(cell(row))));
  const cells = isId && short === true ? shortIds(whole) : whole;
  return {
    column,
    cells,
    width: Math.min(most, Math.max(stringWidth(title), ...cells.map((text) => stringWidth(text)))),
  };
}

function widthOf(shown: readonly { width: number }[]): number {
  return shown.reduce((sum, { width }) => sum + width, 0) + GAP.length * (shown.length - 1);
}

/** The width if all texts that may be cut were short. */
function leastWidthOf<Row>(shown: readonly Measured<Row>[]): number {
  return widthOf(shown.map((one) => ({ width: isText(one) ? Math.min(one.width, LEAST * 2) : one.width })));
}

function isText<Row>({ column }: Measured<Row>): boolean {
  return column.isId !== true && column.right !== true;
}

function withoutSpare<Row>(shown: readonly Measured<Row>[], screen: number): readonly Measured<Row>[] {
  if (leastWidthOf(shown) <= screen) return shown;
  const most = Math.max(...shown.map(({ column }) => column.spare ?? 0));
  if (most === 0) return shown;
  return withoutSpare(
    shown.filter(({ column }) => column.spare !== most),
    screen,
  );
}

/** Cuts the widest text until all fit, but none below the least width. */
function fit<Row>(shown: readonly Measured<Row>[], screen: number): readonly Measured<Row>[] {
  const fitted = shown.map((one) => (isText(one) ? { ...one, width: Math.min(one.width, screen) } : one));
  for (let excess = widthOf(fitted) - screen; excess > 0; excess -= 1) {
    const [widest] = fitted.filter(isText).toSorted((a, b) => b.width - a.width);
    if (widest === undefined || widest.width <= LEAST) break;
    widest.width -= 1;
  }
  return fitted;
}

function fill<Row>({ right = false }: Column<Row>, text: string, width: number): string {
  const shown = cut(text, width);
  return right ? padStart(shown, width) : padEnd(shown, width);
}
