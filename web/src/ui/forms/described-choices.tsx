import { useId } from 'react';
import { Checkbox } from './checkbox.tsx';
import css from './described-choices.module.css';

/** Multiple choice of few values, each with what it means. The chosen ones are in the order of `choices`. */
export function DescribedChoices<Value extends string>({
  label,
  choices,
  chosen,
  hint,
  error,
  onChange,
}: {
  label: string;
  choices: readonly { value: Value; about: string }[];
  chosen: readonly Value[];
  hint?: string | undefined;
  error: string | null;
  onChange: (chosen: readonly Value[]) => void;
}) {
  const noteId = useId();
  const note = error ?? hint;
  const choose = (value: Value, on: boolean): void =>
    onChange(choices.map((choice) => choice.value).filter((one) => (one === value ? on : chosen.includes(one))));
  return (
    <fieldset className={css.choices} aria-describedby={note === undefined ? undefined : noteId}>
      <legend>{label}</legend>
      {choices.map(({ value, about }) => (
        <Checkbox
          key={value}
          label={`${value}: ${about}`}
          checked={chosen.includes(value)}
          onChange={(on) => choose(value, on)}
        />
      ))}
      {note !== undefined && (
        <p id={noteId} className={error === null ? css.hint : css.error} role={error === null ? undefined : 'alert'}>
          {note}
        </p>
      )}
    </fieldset>
  );
}
