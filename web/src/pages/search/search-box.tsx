import { Search } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import css from './search.module.css';

/** It is looked for so long after the last key. */
const REST_MS = 250;

/** Keeps what is written to itself until its writer rests, or presses Enter. */
export function SearchBox({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [text, setText] = useState(value);
  const told = useRef(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // Where the address was changed by something else.
  useEffect(() => {
    if (value === told.current) return;
    told.current = value;
    setText(value);
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const showNotice = (next: string): void => {
    clearTimeout(timer.current);
    told.current = next.trim();
    if (told.current !== value) onChange(told.current);
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
        aria-label="Search all messages"
        placeholder="Search all messages"
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
