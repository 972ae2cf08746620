/** A search field that applies after a pause in typing, or with Enter. The key `/` focuses it. */
import { useEffect, useRef, useState } from 'react';
import { TextField } from './field.tsx';

/** How long a pause is, in milliseconds. */
const REST_MS = 250;

type Props = {
  label: string;
  placeholder: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
};

export function SearchField({ label, placeholder, value = '', onChange }: Props) {
  const [text, setText] = useState(value);
  const [applied, setApplied] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  // Something else changed the address.
  if (applied !== value) {
    setApplied(value);
    if (text.trim() !== value) setText(value);
  }
  const apply = (next: string): void => {
    clearTimeout(timer.current);
    const trimmed = next.trim();
    if (trimmed !== value) onChange(trimmed === '' ? undefined : trimmed);
  };
  return (
    <TextField
      label={label}
      type="search"
      placeholder={placeholder}
      maxLength={200}
      value={text}
      onChange={({ target }) => {
        setText(target.value);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => apply(target.value), REST_MS);
      }}
      onKeyDown={({ key }) => key === 'Enter' && apply(text)}
    />
  );
}
