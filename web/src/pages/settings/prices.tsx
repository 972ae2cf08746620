import type { ModelPrice } from 'nightshift/client';
import { Table } from '../../ui/table.tsx';
import type { Column } from '../../ui/table.tsx';
import css from './settings.module.css';

const KINDS = [
  { name: 'input', head: 'Input' },
  { name: 'output', head: 'Output' },
  { name: 'cache_read', head: 'Read from caches' },
  { name: 'cache_write', head: 'Written to caches' },
] as const;

const COLUMNS: readonly Column<ModelPrice>[] = [
  { name: 'model', head: 'Model', kind: 'wide', cell: ({ model }) => model },
  ...KINDS.map(({ name, head }) => ({
    name,
    head,
    kind: 'right' as const,
    cell: (price: ModelPrice) => `$${price[name]}`,
  })),
];

/** For a million tokens. */
export function Prices({ prices }: { prices: readonly ModelPrice[] }) {
  return (
    <>
      <p className={css.about}>
        {prices.length === 0
          ? 'No model has a price, so that nobody knows what calls cost. Prices are set in the config file.'
          : 'What a million tokens cost. Prices are set in the config file; what other models cost is not known.'}
      </p>
      {prices.length > 0 && (
        <Table label="Prices" rows={prices} rowKey={({ model }) => model} columns={COLUMNS} />
      )}
    </>
  );
}
