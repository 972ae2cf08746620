import { Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from '../ui/forms/button.tsx';
import css from './config-editor.module.css';

export type ListProps<Item> = {
  items: readonly Item[];
  isReadOnly: boolean;
  onChange: (items: Item[]) => void;
};

/** An item of the list, with how it is changed and removed. */
type Place<Item> = { item: Item; number: number; put: (changed: Partial<Item>) => void; remove: () => void };

export function EditableList<Item extends object>({
  items,
  isReadOnly,
  onChange,
  legend,
  hint,
  add,
  newItem,
  className,
  children,
}: ListProps<Item> & {
  legend: string;
  hint: string;
  add: string;
  newItem: Item;
  className: string | undefined;
  children: (place: Place<Item>) => ReactNode;
}) {
  return (
    <fieldset className={css.list}>
      <legend>{legend}</legend>
      <p className={css.hint}>{hint}</p>
      {items.map((item, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- an item is identified by its position
        <div key={at} className={className}>
          {children({
            item,
            number: at + 1,
            put: (changed) => onChange(items.with(at, { ...item, ...changed })),
            remove: () => onChange(items.toSpliced(at, 1)),
          })}
        </div>
      ))}
      {!isReadOnly && (
        <Button size="small" onClick={() => onChange([...items, newItem])}>
          <Plus /> {add}
        </Button>
      )}
    </fieldset>
  );
}
