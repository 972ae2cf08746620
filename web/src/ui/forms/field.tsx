/** Form fields with label, hint and error. */
import { useId, type ComponentProps, type ReactNode } from 'react';
import { classes } from '../classes.ts';
import css from './field.module.css';

export type FieldText = {
  label: string;
  /** Shows the label only to screen readers. */
  hideLabel?: boolean | undefined;
  hint?: string | undefined;
  error?: string | null | undefined;
};

/** What connects a control to the label, the hint and the error of its field. */
export type Tie = {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': boolean;
  'aria-label'?: string;
};

/** `children` gets the attributes that connect the control to its label and hint. */
export function Field({
  label,
  hideLabel = false,
  hint,
  error,
  children,
}: FieldText & { children: (tie: Tie) => ReactNode }) {
  const id = useId();
  const wrong = error ?? undefined;
  const note = wrong ?? hint;
  const noteId = `${id}-note`;
  return (
    <div className={css.field}>
      {!hideLabel && (
        <label className={css.label} htmlFor={id}>
          {label}
        </label>
      )}
      {children({
        id,
        'aria-describedby': note === undefined ? undefined : noteId,
        'aria-invalid': wrong !== undefined,
        ...(hideLabel ? { 'aria-label': label } : {}),
      })}
      {note !== undefined && (
        <p id={noteId} className={wrong === undefined ? css.hint : css.error} role={wrong && 'alert'}>
          {note}
        </p>
      )}
    </div>
  );
}

/** A value, or a value with a text about it. */
type Suggestion = string | { value: string; label: string };

/** `suggestions`: offered values; any other text is allowed. */
export function TextField({
  label,
  hideLabel,
  hint,
  error,
  className,
  suggestions,
  ...rest
}: FieldText & ComponentProps<'input'> & { suggestions?: readonly Suggestion[] | undefined }) {
  const listId = useId();
  return (
    <Field label={label} hideLabel={hideLabel} hint={hint} error={error}>
      {(tie) => (
        <>
          <input
            type="text"
            autoComplete={suggestions === undefined ? undefined : 'off'}
            list={suggestions === undefined ? undefined : listId}
            {...rest}
            {...tie}
            className={classes(css.input, className)}
          />
          {suggestions !== undefined && (
            <datalist id={listId}>
              {suggestions
                .map((one) => (typeof one === 'string' ? { value: one, label: one } : one))
                .map(({ value, label }) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
            </datalist>
          )}
        </>
      )}
    </Field>
  );
}

export function TextArea({
  label,
  hideLabel,
  hint,
  error,
  className,
  ...rest
}: FieldText & ComponentProps<'textarea'>) {
  return (
    <Field label={label} hideLabel={hideLabel} hint={hint} error={error}>
      {(tie) => <textarea {...rest} {...tie} className={classes(css.input, css.area, className)} />}
    </Field>
  );
}
