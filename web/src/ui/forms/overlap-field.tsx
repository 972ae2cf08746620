import { Field } from './field.tsx';
import { Select } from './select.tsx';
import { uiWords } from '../../words.ts';

const OPTIONS = [
  { value: '0', label: uiWords.overlap.none },
  { value: '3600', label: uiWords.overlap.hour },
  { value: '86400', label: uiWords.overlap.day },
  { value: '604800', label: uiWords.overlap.week },
  { value: '2592000', label: uiWords.overlap.month },
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
