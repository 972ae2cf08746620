import type { ReactNode } from 'react';
import { classes } from './classes.ts';
import css from './table.module.css';

export type Column<Row> = {
  name: string;
  /** What stands in its head. */
  head: ReactNode;
  /** `wide`: takes the room that is left, and cuts off what is too long. `right`: numbers. */
  kind?: 'wide' | 'right';
  cell: (row: Row) => ReactNode;
};

/** Rows and columns. On a narrow screen it scrolls sideways, by keyboard too. */
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
  /** Within something that has a border of its own. */
  flush?: boolean;
}) {
  const look = ({ kind }: Column<Row>): string => classes(kind !== undefined && css[kind]);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reached by keyboard
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
            <tr key={rowKey(row)}>
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
