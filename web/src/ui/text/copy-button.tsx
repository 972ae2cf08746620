import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { IconButton } from '../forms/button.tsx';
import { uiWords } from '../../words.ts';

const SHOWN_MS = 1500;

/** Copies a text to the clipboard. `read` is called when the button is pressed. */
export function CopyButton({
  read,
  label = uiWords.copy.no,
  className,
}: {
  read: () => string;
  label?: string;
  className?: string | undefined;
}) {
  const [copied, setCopied] = useState<'no' | 'yes' | 'refused'>('no');
  useEffect(() => {
    if (copied === 'no') return undefined;
    const timer = setTimeout(() => setCopied('no'), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = (): void => {
    // The clipboard API is available only over HTTPS or from localhost.
    if (!('clipboard' in navigator)) return setCopied('refused');
    navigator.clipboard.writeText(read()).then(
      () => setCopied('yes'),
      () => setCopied('refused'),
    );
  };
  const currentLabel = copied === 'no' ? label : uiWords.copy[copied];
  return (
    <IconButton label={currentLabel} size="small" className={className} onClick={copy}>
      {copied === 'yes' ? <Check /> : <Copy />}
    </IconButton>
  );
}
