/** Limits of a new key, beside those of its tenant. A key that can make others has none. */
import { TextField } from '../ui/forms/field.tsx';
import { LIMIT_NAMES, faultIn, type LimitDraft } from './limits.ts';
import { apiKeysWords } from '../words.ts';

const words = apiKeysWords.limits;

type Props = {
  value: LimitDraft;
  disabled: boolean;
  errorOf: (path: string) => string | null;
  onChange: (value: LimitDraft) => void;
};

export function LimitFields({ value, disabled, errorOf, onChange }: Props) {
  return LIMIT_NAMES.map((name) => (
    <TextField
      key={name}
      label={words.of[name].label}
      inputMode="numeric"
      autoComplete="off"
      placeholder={words.none}
      hint={disabled ? words.canMakeOthers : undefined}
      disabled={disabled}
      value={disabled ? '' : value[name]}
      error={disabled ? null : (faultIn(value[name]) ?? errorOf(`limits.${name}`))}
      onChange={({ target }) => onChange({ ...value, [name]: target.value })}
    />
  ));
}
