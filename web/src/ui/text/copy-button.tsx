import { Check, Copy } from 'lucide-react';
import { useEffect, useState, type ReactNode } from 'react';
import { IconButton } from '../forms/button.tsx';
import { uiWords } from '../../words.ts';
import { copyText } from './copy-text.ts';

const SHOWN_MS = 1500;

/** Copies a text to the clipboard. `read` is called when the button is pressed. `icon`: of a text of another kind. */
export function CopyButton({
  read,
  label = uiWords.copy.no,
  icon = <Copy />,
  size = 'small',
  className,
}: {
  read: () => string;
  label?: string;
  icon?: ReactNode;
  size?: 'small' | 'medium';
  className?: string | undefined;
}) {
  const [copied, setCopied] = useState<'no' | 'yes' | 'refused'>('no');
  useEffect(() => {
    if (copied === 'no') return undefined;
    const timer = setTimeout(() => setCopied('no'), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async (): Promise<void> => setCopied((await copyText(read())) ? 'yes' : 'refused');
  const currentLabel = copied === 'no' ? label : uiWords.copy[copied];
  return (
    <IconButton label={currentLabel} size={size} className={className} onClick={() => void copy()}>
      {copied === 'yes' ? <Check /> : icon}
    </IconButton>
  );
}
