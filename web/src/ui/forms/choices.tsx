import { useId } from 'react';
import css from './choices.module.css';
import { Checkbox } from './checkbox.tsx';
import { uiWords } from '../../words.ts';

/** Multiple choice. Chosen values that are not in `known` are kept. */
export function Choices({
  label,
  hint,
  known,
  chosen,
  disabled = false,
  onChange,
}: {
  label: string;
  hint?: string | undefined;
  known: readonly string[];
  chosen: readonly string[];
  disabled?: boolean;
  onChange: (chosen: readonly string[]) => void;
}) {
  const hintId = useId();
  const names = [...new Set([...known, ...chosen])].toSorted();
  return (
    <fieldset className={css.choices} aria-describedby={hint === undefined ? undefined : hintId}>
      <legend>{label}</legend>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard */}
      <div tabIndex={disabled ? 0 : undefined} role="group" aria-label={label}>
        {names.map((name) => (
          <Checkbox
            key={name}
            label={name}
            disabled={disabled}
            checked={chosen.includes(name)}
            onChange={(on) => onChange(on ? [...chosen, name] : chosen.filter((one) => one !== name))}
          />
        ))}
        {names.length === 0 && <span className={css.none}>{uiWords.choices.none}</span>}
      </div>
      {hint !== undefined && (
        <p id={hintId} className={css.hint}>
          {hint}
        </p>
      )}
    </fieldset>
  );
}
