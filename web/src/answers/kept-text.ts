/**
 * What has been written into the form of a waiting call. It outlives the form: in a long inbox only the forms around those that
 * are seen are in the document.
 */
import { useState } from 'react';
import type { ToolCall } from 'nightshift/client';

/** The texts that were changed last are kept. */
const MOST_TEXTS = 200;

const kept = new Map<string, string>();

export function useKeptText(
  { id, waits_since }: Pick<ToolCall, 'id' | 'waits_since'>,
  field: 'input' | 'reason' | 'result' | 'answer',
  initial = '',
): [string, (text: string) => void] {
  const key = `${id} ${waits_since} ${field}`;
  const [text, setText] = useState(() => kept.get(key) ?? initial);
  const change = (next: string): void => {
    kept.delete(key);
    kept.set(key, next);
    for (const oldest of kept.keys()) if (kept.size > MOST_TEXTS) kept.delete(oldest);
    setText(next);
  };
  return [text, change];
}
