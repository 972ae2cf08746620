/** Debounces a text that is sought while it is typed. */
import { useEffect, useState } from 'react';

const PAUSE_MS = 250;

/** The text after a pause; an empty text at once. */
export function useSettled(text: string): string {
  const [settled, settle] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => settle(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return text === '' ? '' : settled;
}
