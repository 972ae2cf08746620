import css from './spinner.module.css';

/** Progress indicator. Without `label` it is hidden from screen readers, and adjacent text must describe it. */
export function Spinner({ label }: { label?: string }) {
  if (label === undefined) return <span className={css.spinner} aria-hidden="true" />;
  return <span className={css.spinner} role="status" aria-label={label} />;
}
