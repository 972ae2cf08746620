import { Tabs as Radix } from 'radix-ui';
import { useEffect, useRef, type ReactNode } from 'react';
import css from './tabs.module.css';

export type Tab<Name extends string> = { name: Name; label: ReactNode; content: ReactNode };

/** Tabs; arrow keys move between them. Without `value` and `onChange` the component is uncontrolled. */
export function Tabs<Name extends string>({
  label,
  tabs,
  value,
  onChange,
}: {
  label: string;
  tabs: readonly Tab<Name>[];
  value?: Name;
  onChange?: (name: Name) => void;
}) {
  const first = tabs[0]?.name ?? '';
  const choose = (chosen: string): void => {
    const tab = tabs.find(({ name }) => name === chosen);
    if (tab !== undefined) onChange?.(tab.name);
  };
  const list = useRef<HTMLDivElement>(null);
  // On narrow screens the selected tab can be out of view.
  useEffect(() => {
    if (value === undefined) return;
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [value]);
  const kept = value === undefined ? { defaultValue: first } : { value, onValueChange: choose };
  return (
    <Radix.Root {...kept}>
      <Radix.List ref={list} className={css.list} aria-label={label}>
        {tabs.map(({ name, label }) => (
          <Radix.Trigger key={name} value={name} className={css.tab}>
            {label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map(({ name, content }) => (
        <Radix.Content key={name} value={name}>
          {content}
        </Radix.Content>
      ))}
    </Radix.Root>
  );
}
