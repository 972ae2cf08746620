import type { ModelPrice } from 'nightshift/client';
import { Table, type Column } from '../../ui/layout/table.tsx';
import { settingsWords } from '../../words.ts';
import css from './settings.module.css';

const words = settingsWords.prices;

const KINDS = ['input', 'output', 'cache_read', 'cache_write'] as const;

const COLUMNS: readonly Column<ModelPrice>[] = [
  { name: 'model', head: words.model, kind: 'wide', cell: ({ model }) => model },
  ...KINDS.map((name) => ({
    name,
    head: words.kinds[name],
    kind: 'right' as const,
    cell: (price: ModelPrice) => `$${price[name]}`,
  })),
];

/** Prices per million tokens. */
export function Prices({ prices }: { prices: readonly ModelPrice[] }) {
  return (
    <>
      <p className={css.about}>{prices.length === 0 ? words.none : words.about}</p>
      {prices.length > 0 && <Table label={words.title} rows={prices} rowKey={({ model }) => model} columns={COLUMNS} />}
    </>
  );
}
