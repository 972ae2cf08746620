/** A list of any length: the items around those that are seen are in the document (see `row-window.ts`). */
import type { ReactNode } from 'react';
import { useRowWindow, type Part } from './row-window.ts';
import css from './long-list.module.css';

/** What an item has as attributes of its `li`. Its place is said where items are missing before or after it. */
export type Place = { 'data-row': string; 'aria-posinset'?: number; 'aria-setsize'?: number };

type Props<Item> = {
  label?: string;
  className?: string | undefined;
  items: readonly Item[];
  itemKey: (item: Item, index: number) => string;
  /** The order has a meaning. */
  ordered?: boolean;
  hidden?: boolean;
  busy?: boolean;
  /** It scrolls by itself, so it must be reachable by keyboard. */
  scrolls?: boolean;
  /** There are items after these, which are not loaded. */
  more?: boolean;
  /** Returns a `li` with a `key` and the attributes `place`. */
  children: (item: Item, place: Place, index: number) => ReactNode;
};

export function LongList<Item>({ ordered = false, ...props }: Props<Item>) {
  return ordered ? <Ordered {...props} /> : <Unordered {...props} />;
}

function Unordered<Item>({ items, ...props }: Props<Item>) {
  const { list, part } = useRowWindow<HTMLUListElement>(items.length);
  return (
    <ul ref={list} {...attributesOf(props)}>
      <Items {...props} items={items} part={part} />
    </ul>
  );
}

function Ordered<Item>({ items, ...props }: Props<Item>) {
  const { list, part } = useRowWindow<HTMLOListElement>(items.length);
  return (
    <ol ref={list} {...attributesOf(props)}>
      <Items {...props} items={items} part={part} />
    </ol>
  );
}

type Look = Pick<Props<never>, 'label' | 'className' | 'hidden' | 'busy' | 'scrolls'>;

function attributesOf({ label, className, hidden, busy, scrolls = false }: Look) {
  return { 'aria-label': label, className, hidden, 'aria-busy': busy, ...(scrolls ? { tabIndex: 0 } : {}) };
}

type ItemsProps<Item> = Pick<Props<Item>, 'items' | 'itemKey' | 'more' | 'children'> & { part: Part };

function Items<Item>({ items, itemKey, more = false, children, part }: ItemsProps<Item>) {
  const { first, count, before, after } = part;
  const isWhole = items.length <= count;
  return (
    <>
      <Space height={before} />
      {items.slice(first, first + count).map((item, at) => {
        const index = first + at;
        const place = isWhole ? {} : { 'aria-posinset': index + 1, 'aria-setsize': more ? -1 : items.length };
        return children(item, { 'data-row': itemKey(item, index), ...place }, index);
      })}
      <Space height={after} />
    </>
  );
}

/** Stands for items that are not in the document. */
export function Space({ height }: { height: number }) {
  if (height === 0) return null;
  return <li role="presentation" aria-hidden="true" className={css.space} style={{ height }} />;
}
