/** A filter that is written. */
import { useState } from 'react';
import { TextField } from './field.tsx';

type Props = {
  label: string;
  placeholder?: string;
  /** What is wrong with a text; null: nothing. */
  faultOf?: (text: string) => string | null;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
};

/** Applies with Enter, or when the field loses the focus. */
export function TextFilter({ label, placeholder, faultOf = () => null, value, onChange }: Props) {
  const [text, setText] = useState(value ?? '');
  const [applied, setApplied] = useState(value);
  if (applied !== value) {
    setApplied(value);
    setText(value ?? '');
  }
  const fault = text === '' ? null : faultOf(text);
  const take = (): void => {
    const trimmed = text.trim();
    if (fault === null && trimmed !== (value ?? '')) onChange(trimmed === '' ? undefined : trimmed);
  };
  return (
    <TextField
      label={label}
      {...(placeholder !== undefined && { placeholder })}
      value={text}
      error={fault}
      onChange={({ target }) => setText(target.value)}
      onBlur={take}
      onKeyDown={({ key }) => key === 'Enter' && take()}
    />
  );
}
