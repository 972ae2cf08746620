import { Field } from './field.tsx';
import { Select } from './select.tsx';

const OPTIONS = [
  { value: '0', label: 'Not at all: it ends at once' },
  { value: '3600', label: 'One hour' },
  { value: '86400', label: 'One day' },
  { value: '604800', label: 'Seven days' },
  { value: '2592000', label: '30 days' },
] as const;

export type Overlap = (typeof OPTIONS)[number]['value'];

/** How long a secret that was replaced stays valid, in seconds. */
export function OverlapField({
  label,
  hint,
  value,
  onChange,
}: {
  label: string;
  hint: string;
  value: Overlap;
  onChange: (value: Overlap) => void;
}) {
  return (
    <Field label={label} hint={hint}>
      {(tie) => <Select {...tie} value={value} options={OPTIONS} onChange={onChange} />}
    </Field>
  );
}
