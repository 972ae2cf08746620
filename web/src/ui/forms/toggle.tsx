/** A checkbox for form values, and a switch for settings that apply at once. */
import { Check, Minus } from 'lucide-react';
import { Checkbox as RadixCheckbox, Switch as RadixSwitch } from 'radix-ui';
import { useId } from 'react';
import css from './toggle.module.css';

type Props = {
  label: string;
  hideLabel?: boolean;
  disabled?: boolean;
};

/** `some`: indeterminate, because only some of several values are on. */
export function Checkbox({
  label,
  hideLabel = false,
  checked,
  onChange,
  disabled = false,
}: Props & { checked: boolean | 'some'; onChange: (checked: boolean) => void }) {
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

export function Switch({
  label,
  hideLabel = false,
  checked,
  onChange,
  disabled = false,
}: Props & { checked: boolean; onChange: (checked: boolean) => void }) {
  const id = useId();
  return (
    <span className={css.row}>
      <RadixSwitch.Root id={id} className={css.switch} checked={checked} disabled={disabled} onCheckedChange={onChange}>
        <RadixSwitch.Thumb className={css.thumb} />
      </RadixSwitch.Root>
      <label htmlFor={id} className={hideLabel ? css.hidden : undefined}>
        {label}
      </label>
    </span>
  );
}
