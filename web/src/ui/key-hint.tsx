import css from './key-hint.module.css';

/** Keys to press, one after the other: `g c`; together: `Ctrl+Enter`. */
export function KeyHint({ keys }: { keys: string }) {
  return (
    <span className={css.keys}>
      {keys.split(/[ +]/).map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </span>
  );
}
