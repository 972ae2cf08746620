import css from './spinner.module.css';

/** Something is under way. Without a `label` it is only seen: then the words beside it say so. */
export function Spinner({ label }: { label?: string }) {
  if (label === undefined) return <span className={css.spinner} aria-hidden="true" />;
  return <span className={css.spinner} role="status" aria-label={label} />;
}
