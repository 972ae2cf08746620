import css from './error-text.module.css';
import { readError } from './read-error.ts';

/** The message of an error, or a list of all faults of a request that has several. */
export function ErrorText({ error }: { error: unknown }) {
  const { message, faults } = readError(error);
  if (faults.length === 0) return <p>{message}</p>;
  return (
    <ul className={css.faults}>
      {faults.map((fault) => (
        <li key={fault}>{fault}</li>
      ))}
    </ul>
  );
}
