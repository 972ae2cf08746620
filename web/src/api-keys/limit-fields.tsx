/** Limits of a new key, beside those of its tenant. A key that can make others has none. */
import { TextField } from '../ui/forms/field.tsx';
import { LIMIT_NAMES, faultIn, type LimitDraft, type LimitName } from './limits.ts';

const LABELS = {
  requests_per_s: 'Requests per second',
  concurrent_requests: 'Concurrent requests',
} as const satisfies Record<LimitName, string>;

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
      label={LABELS[name]}
      inputMode="numeric"
      autoComplete="off"
      placeholder="no limit of its own"
      hint={disabled ? 'A key with the scope keys has no limits of its own.' : undefined}
      disabled={disabled}
      value={disabled ? '' : value[name]}
      error={disabled ? null : (faultIn(value[name]) ?? errorOf(`limits.${name}`))}
      onChange={({ target }) => onChange({ ...value, [name]: target.value })}
    />
  ));
}
