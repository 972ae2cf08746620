import { CodeBlock } from './code-block.tsx';
import { uiWords } from '../../words.ts';

/** Shows a value as formatted JSON. A string that contains a JSON object or array is parsed first. */
export function Json({ value, label = uiWords.json, most = 320 }: { value: unknown; label?: string; most?: number }) {
  return (
    <CodeBlock label={label} most={most} wrap>
      {write(value)}
    </CodeBlock>
  );
}

function write(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value, null, 2) ?? 'undefined';
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === 'object' && parsed !== null ? JSON.stringify(parsed, null, 2) : value;
  } catch {
    return value;
  }
}
