/** Tables for terminals. Columns are as wide as their content; the last one is cut at the edge of the terminal. */
import stringWidth from 'string-width';
import { oneLine } from './safe.ts';
import type { Ink } from './ink.ts';
import { cut, padEnd, padStart } from './width.ts';

export type Column<Row> = {
  title: string;
  cell: (row: Row) => string;
  /** `cell` returns a single safe line; its spaces are kept. */
  isLine?: boolean;
  right?: boolean;
  ink?: (row: Row, text: string, ink: Ink) => string;
};

const GAP = '  ';
const LEAST_LAST = 8;

/** `screen`: columns of the terminal; null: unlimited. The result ends with a newline. */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  ink: Ink,
  screen: number | null,
): string {
  const cells = rows.map((row) => columns.map(({ cell, isLine = false }) => (isLine ? cell(row) : oneLine(cell(row)))));
  const widths = columns.map(({ title }, at) =>
    Math.max(stringWidth(title), ...cells.map((row) => stringWidth(row[at] ?? ''))),
  );
  const last = columns.length - 1;
  const before = widths.slice(0, last).reduce((sum, width) => sum + width + GAP.length, 0);
  const lastWidth = screen === null ? Infinity : Math.max(LEAST_LAST, screen - before);
  const fit = (text: string, at: number): string => {
    if (at === last && columns[at]?.right !== true) return cut(text, lastWidth);
    return columns[at]?.right === true ? padStart(text, widths[at] ?? 0) : padEnd(text, widths[at] ?? 0);
  };
  const head = columns.map(({ title }, at) => ink('dim', fit(title, at))).join(GAP);
  const lines = rows.map((row, index) =>
    columns
      .map((column, at) => {
        const text = fit(cells[index]?.[at] ?? '', at);
        return column.ink?.(row, text, ink) ?? text;
      })
      .join(GAP)
      .trimEnd(),
  );
  return [head, ...lines].map((line) => `${line}\n`).join('');
}
