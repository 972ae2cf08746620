import type { ReactNode } from 'react';
import { classes } from '../classes.ts';
import { LongList } from './long-list.tsx';
import { useIsNarrow } from './narrow.ts';
import { useRowWindow } from './row-window.ts';
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

/**
 * A table; on phones a list, where each row has the names of the columns beside its values. Of a long one the rows around
 * those that are seen are in the document.
 */
export function Table<Row>(props: Props<Row>) {
  return useIsNarrow() ? <Cards {...props} /> : <Columns {...props} />;
}

function Cards<Row>({ label, columns, rows, rowKey, flush = false }: Props<Row>) {
  return (
    <LongList label={label} className={classes(css.cards, flush && css.flush)} items={rows} itemKey={rowKey}>
      {(row, place) => (
        <li key={rowKey(row)} {...place}>
          <dl>
            {columns.map(({ name, head, kind, cell }) => (
              <div key={name} className={classes(kind === 'wide' && css.whole)}>
                <dt>{head}</dt>
                <dd>{cell(row)}</dd>
              </div>
            ))}
          </dl>
        </li>
      )}
    </LongList>
  );
}

/** If it is wider than its place, it scrolls horizontally, also by keyboard. */
function Columns<Row>({ label, columns, rows, rowKey, flush = false }: Props<Row>) {
  const {
    list,
    part: { first, count, before, after },
  } = useRowWindow<HTMLTableSectionElement>(rows.length);
  const look = ({ kind }: Column<Row>): string => classes(kind !== undefined && css[kind]);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard
    <div className={classes(css.scroll, flush && css.flush)} tabIndex={0} role="region" aria-label={label}>
      <table className={css.table} aria-rowcount={rows.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <th key={column.name} scope="col" className={look(column)} aria-sort={column.sort}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={list}>
          <Space height={before} columns={columns.length} />
          {rows.slice(first, first + count).map((row, at) => (
            <tr
              key={rowKey(row)}
              data-row={rowKey(row)}
              // The header is the first row.
              aria-rowindex={first + at + 2}
            >
              {columns.map((column) => (
                <td key={column.name} className={look(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
          <Space height={after} columns={columns.length} />
        </tbody>
      </table>
    </div>
  );
}

/** Stands for rows that are not in the document. */
function Space({ height, columns }: { height: number; columns: number }) {
  if (height === 0) return null;
  return (
    <tr aria-hidden="true" className={css.space}>
      {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label -- an empty cell, not a control */}
      <td colSpan={columns} style={{ height }} />
    </tr>
  );
}
