/** When a new key expires. */
import { endOf } from '../data/days.ts';
import { Field, TextField } from '../ui/forms/field.tsx';
import { Select } from '../ui/forms/select.tsx';

export type Expiry = { kind: 'days'; days: number } | { kind: 'day'; day: string } | { kind: 'never' };

const OPTIONS = [
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
  { value: 'day', label: 'At the end of a day …' },
  { value: 'never', label: 'Never' },
] as const;

const DAY_MS = 86_400_000;

/** Null: never; undefined: no day is chosen yet. */
export function expiresAtOf(expiry: Expiry): string | null | undefined {
  switch (expiry.kind) {
    case 'days':
      return new Date(Date.now() + expiry.days * DAY_MS).toISOString();
    case 'day':
      return endOf(expiry.day) ?? undefined;
    case 'never':
      return null;
  }
}

type Props = { value: Expiry; error: string | null; onChange: (value: Expiry) => void };

export function ExpiryField({ value, error, onChange }: Props) {
  const chosen = value.kind === 'days' ? String(value.days) : value.kind;
  const choose = (next: (typeof OPTIONS)[number]['value']): void => {
    if (next === 'day') onChange({ kind: 'day', day: '' });
    else if (next === 'never') onChange({ kind: 'never' });
    else onChange({ kind: 'days', days: Number(next) });
  };
  return (
    <>
      <Field label="Expires" error={value.kind === 'day' ? null : error}>
        {(tie) => (
          <Select
            {...tie}
            value={OPTIONS.find((option) => option.value === chosen)?.value}
            options={OPTIONS}
            onChange={choose}
          />
        )}
      </Field>
      {value.kind === 'day' && (
        <TextField
          label="Last day"
          type="date"
          required
          value={value.day}
          error={error}
          onChange={({ target }) => onChange({ kind: 'day', day: target.value })}
        />
      )}
    </>
  );
}
