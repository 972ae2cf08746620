import { useRef, type ReactNode } from 'react';
import { classes } from '../classes.ts';
import css from './code-block.module.css';
import { CopyButton } from './copy-button.tsx';
import { uiWords } from '../../words.ts';

/** Preformatted text with a copy button, scrollable by keyboard. `most`: maximum height in pixels. */
export function CodeBlock({
  label = uiWords.code,
  wrap = false,
  most,
  children,
}: {
  label?: string;
  wrap?: boolean;
  most?: number | undefined;
  children: ReactNode;
}) {
  const pre = useRef<HTMLPreElement>(null);
  return (
    <div
      className={classes(css.block, wrap && css.wrap)}
      style={most === undefined ? {} : { ['--most' as string]: `${most}px` }}
    >
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard */}
      <pre ref={pre} tabIndex={0} role="region" aria-label={label}>
        {children}
      </pre>
      <CopyButton read={() => pre.current?.textContent ?? ''} className={css.copy} />
    </div>
  );
}
