/** Filters of a list. */
import { X } from 'lucide-react';
import { useId, type ReactNode } from 'react';
import { Button } from './button.tsx';
import css from './filters.module.css';
import { Field, TextField } from './field.tsx';
import { Select, type Option } from './select.tsx';
import { uiWords } from '../../words.ts';

export function FilterBar({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className={css.bar} role="search" aria-label={label}>
      {children}
    </div>
  );
}

/** Value for “no filter”, because a Select has no empty value. */
const ANY = 'any';

export function SelectFilter<Value extends string>({
  label,
  any,
  error,
  value,
  options,
  onChange,
}: {
  label: string;
  /** Label for “no filter”. */
  any: string;
  error?: string | null;
  value: Value | undefined;
  options: readonly Option<Value>[];
  onChange: (value: Value | undefined) => void;
}) {
  const all: Option<Value | typeof ANY>[] = [{ value: ANY, label: any }, ...options];
  return (
    <Field label={label} error={error}>
      {(tie) => (
        <Select
          {...tie}
          value={value ?? ANY}
          options={all}
          onChange={(chosen) =>
            onChange(chosen === ANY ? undefined : options.find((one) => one.value === chosen)?.value)
          }
        />
      )}
    </Field>
  );
}

/** A day in the form `2026-01-31`. */
export function DayFilter({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string | undefined;
  onChange: (day: string | undefined) => void;
}) {
  return (
    <TextField
      label={label}
      type="date"
      value={value ?? ''}
      onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
    />
  );
}

/** Active filters without a control of their own; each can be removed. */
export function FilterChips({ chips }: { chips: readonly { label: string; onRemove: () => void }[] }) {
  if (chips.length === 0) return null;
  return (
    <div className={css.chips}>
      {chips.map(({ label, onRemove }) => (
        <Button key={label} size="small" onClick={onRemove} aria-label={uiWords.filters.remove(label)}>
          {label} <X aria-hidden="true" />
        </Button>
      ))}
    </div>
  );
}

export type Segment<Value extends string> = { value: Value; label: string; count?: number };

/** Single choice with all options visible. */
export function Segments<Value extends string>({
  label,
  value,
  segments,
  onChange,
}: {
  label: string;
  value: Value;
  segments: readonly Segment<Value>[];
  onChange: (value: Value) => void;
}) {
  const id = useId();
  return (
    <div className={css.segments} role="group" aria-label={label}>
      {segments.map((segment) => (
        <button
          key={`${id} ${segment.value}`}
          type="button"
          className={css.segment}
          aria-pressed={segment.value === value}
          onClick={() => onChange(segment.value)}
        >
          {segment.label}
          {segment.count !== undefined && <span className={css.count}>{segment.count}</span>}
        </button>
      ))}
    </div>
  );
}
