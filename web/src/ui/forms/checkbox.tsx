import { Check, Minus } from 'lucide-react';
import { Checkbox as RadixCheckbox } from 'radix-ui';
import { useId } from 'react';
import css from './checkbox.module.css';

type Props = {
  label: string;
  hideLabel?: boolean;
  disabled?: boolean;
  /** `some`: indeterminate, because only some of several values are on. */
  checked: boolean | 'some';
  onChange: (checked: boolean) => void;
};

export function Checkbox({ label, hideLabel = false, checked, onChange, disabled = false }: Props) {
  const id = useId();
  return (
    <span className={css.row}>
      <RadixCheckbox.Root
        id={id}
        className={css.box}
        checked={checked === 'some' ? 'indeterminate' : checked}
        disabled={disabled}
        onCheckedChange={(next) => onChange(next === true)}
      >
        <RadixCheckbox.Indicator>{checked === 'some' ? <Minus /> : <Check />}</RadixCheckbox.Indicator>
      </RadixCheckbox.Root>
      <label htmlFor={id} className={hideLabel ? css.hidden : undefined}>
        {label}
      </label>
    </span>
  );
}
