import type { ModelPrice } from 'nightshift/client';
import { Table, type Column } from '../../ui/layout/table.tsx';
import css from './settings.module.css';

const KINDS = [
  { name: 'input', head: 'Input' },
  { name: 'output', head: 'Output' },
  { name: 'cache_read', head: 'Cache read' },
  { name: 'cache_write', head: 'Cache write' },
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

/** Prices per million tokens. */
export function Prices({ prices }: { prices: readonly ModelPrice[] }) {
  return (
    <>
      <p className={css.about}>
        {prices.length === 0
          ? 'No model has a price, so the cost of calls is unknown. Set prices in the config file.'
          : 'Prices per million tokens, set in the config file. The cost of other models is unknown.'}
      </p>
      {prices.length > 0 && <Table label="Prices" rows={prices} rowKey={({ model }) => model} columns={COLUMNS} />}
    </>
  );
}
