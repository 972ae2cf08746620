/** When a new key expires. */
import { endOf } from '../data/days.ts';
import { Field, TextField } from '../ui/forms/field.tsx';
import { Select } from '../ui/forms/select.tsx';
import { apiKeysWords } from '../words.ts';

export type Expiry = { kind: 'days'; days: number } | { kind: 'day'; day: string } | { kind: 'never' };

const words = apiKeysWords.expiry;

const VALUES = ['30', '90', '365', 'day', 'never'] as const;
const OPTIONS = VALUES.map((value) => ({ value, label: words.options[value] }));

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
  const choose = (next: (typeof VALUES)[number]): void => {
    if (next === 'day') onChange({ kind: 'day', day: '' });
    else if (next === 'never') onChange({ kind: 'never' });
    else onChange({ kind: 'days', days: Number(next) });
  };
  return (
    <>
      <Field label={words.label} error={value.kind === 'day' ? null : error}>
        {(tie) => <Select {...tie} value={VALUES.find((one) => one === chosen)} options={OPTIONS} onChange={choose} />}
      </Field>
      {value.kind === 'day' && (
        <TextField
          label={words.lastDay}
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
