import type { ReactNode } from 'react';
import { classes } from '../classes.ts';
import { useIsNarrow } from './narrow.ts';
import css from './table.module.css';

export type Column<Row> = {
  name: string;
  /** Content of the header cell. */
  head: ReactNode;
  /** `wide`: takes the remaining width and truncates long text. `right`: numbers. */
  kind?: 'wide' | 'right';
  /** The rows are sorted by it. */
  sort?: 'ascending' | 'descending';
  cell: (row: Row) => ReactNode;
};

type Props<Row> = {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  /** Set within a container that has a border. */
  flush?: boolean;
};

/** A table; on phones a list, where each row has the names of the columns beside its values. */
export function Table<Row>(props: Props<Row>) {
  return useIsNarrow() ? <Cards {...props} /> : <Columns {...props} />;
}

function Cards<Row>({ label, columns, rows, rowKey, flush = false }: Props<Row>) {
  return (
    <ul className={classes(css.cards, flush && css.flush)} aria-label={label}>
      {rows.map((row) => (
        <li key={rowKey(row)} data-row={rowKey(row)}>
          <dl>
            {columns.map(({ name, head, kind, cell }) => (
              <div key={name} className={classes(kind === 'wide' && css.whole)}>
                <dt>{head}</dt>
                <dd>{cell(row)}</dd>
              </div>
            ))}
          </dl>
        </li>
      ))}
    </ul>
  );
}

/** If it is wider than its place, it scrolls horizontally, also by keyboard. */
function Columns<Row>({ label, columns, rows, rowKey, flush = false }: Props<Row>) {
  const look = ({ kind }: Column<Row>): string => classes(kind !== undefined && css[kind]);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard
    <div className={classes(css.scroll, flush && css.flush)} tabIndex={0} role="region" aria-label={label}>
      <table className={css.table}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} scope="col" className={look(column)} aria-sort={column.sort}>
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
