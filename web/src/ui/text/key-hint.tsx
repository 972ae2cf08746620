import css from './key-hint.module.css';

/** Keys of a shortcut: in sequence `g c`, or together `Ctrl+Enter`. */
export function KeyHint({ keys }: { keys: string }) {
  return (
    <span className={css.keys}>
      {keys.split(/[ +]/).map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </span>
  );
}
