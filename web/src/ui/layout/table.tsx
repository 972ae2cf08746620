import type { ReactNode } from 'react';
import { classes } from '../classes.ts';
import css from './table.module.css';

export type Column<Row> = {
  name: string;
  /** Content of the header cell. */
  head: ReactNode;
  /** `wide`: takes the remaining width and truncates long text. `right`: numbers. */
  kind?: 'wide' | 'right';
  cell: (row: Row) => ReactNode;
};

/** A table. On narrow screens it scrolls horizontally, also by keyboard. */
export function Table<Row>({
  label,
  columns,
  rows,
  rowKey,
  flush = false,
}: {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  /** Set within a container that has a border. */
  flush?: boolean;
}) {
  const look = ({ kind }: Column<Row>): string => classes(kind !== undefined && css[kind]);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard
    <div className={classes(css.scroll, flush && css.flush)} tabIndex={0} role="region" aria-label={label}>
      <table className={css.table}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} scope="col" className={look(column)}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)} data-row={rowKey(row)}>
              {columns.map((column) => (
                <td key={column.name} className={look(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
