import { Search } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { searchWords } from '../../words.ts';
import css from './search.module.css';

/** Debounce of the search field. */
const REST_MS = 250;

/** Search field. Calls `onChange` after a pause in typing, or with Enter. */
export function SearchBox({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [text, setText] = useState(value);
  const reported = useRef(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // Updates the field if something else changed the address.
  useEffect(() => {
    if (value === reported.current) return;
    reported.current = value;
    setText(value);
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const showNotice = (next: string): void => {
    clearTimeout(timer.current);
    reported.current = next.trim();
    if (reported.current !== value) onChange(reported.current);
  };
  return (
    <form
      className={css.box}
      onSubmit={(event) => {
        event.preventDefault();
        showNotice(text);
      }}
    >
      <Search aria-hidden="true" />
      <input
        type="search"
        aria-label={searchWords.field}
        placeholder={searchWords.field}
        autoFocus
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => showNotice(target.value), REST_MS);
        }}
      />
    </form>
  );
}
