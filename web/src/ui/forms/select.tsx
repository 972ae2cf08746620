import { Check, ChevronDown } from 'lucide-react';
import { Select as Radix } from 'radix-ui';
import { classes } from '../classes.ts';
import type { Tie } from './field.tsx';
import { uiWords } from '../../words.ts';
import css from './select.module.css';

export type Option<Value extends string> = { value: Value; label: string };

/** A select box. Within a Field pass what it gives, else `label`. Option values must not be empty. */
export function Select<Value extends string>({
  label,
  value,
  options,
  onChange,
  placeholder,
  disabled = false,
  className,
  ...tie
}: Partial<Tie> & {
  label?: string | undefined;
  value: Value | undefined;
  options: readonly Option<Value>[];
  onChange: (value: Value) => void;
  placeholder?: string;
  disabled?: boolean;
  className?: string | undefined;
}) {
  const choose = (chosen: string): void => {
    const option = options.find((option) => option.value === chosen);
    if (option !== undefined) onChange(option.value);
  };
  return (
    <Radix.Root value={value ?? ''} onValueChange={choose} disabled={disabled}>
      <Radix.Trigger aria-label={label} {...tie} className={classes(css.trigger, className)}>
        <Radix.Value placeholder={placeholder ?? uiWords.select.placeholder} />
        <Radix.Icon asChild>
          <ChevronDown />
        </Radix.Icon>
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content className={css.list} position="popper" sideOffset={4} collisionPadding={8}>
          <Radix.Viewport>
            {options.map((option) => (
              <Radix.Item key={option.value} value={option.value} className={css.option}>
                <Radix.ItemText>{option.label}</Radix.ItemText>
                <Radix.ItemIndicator>
                  <Check />
                </Radix.ItemIndicator>
              </Radix.Item>
            ))}
          </Radix.Viewport>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
