import type { ReactNode } from 'react';
import css from './badge.module.css';
import { classes } from '../classes.ts';

export type Tone = 'neutral' | 'accent' | 'green' | 'amber' | 'red' | 'blue';

/** A short label. `dot` adds a dot before it; a live dot pulses. */
export function Badge({
  tone = 'neutral',
  dot,
  title,
  children,
}: {
  tone?: Tone;
  dot?: 'still' | 'live';
  title?: string;
  children: ReactNode;
}) {
  return (
    <span className={classes(css.badge, css[tone])} title={title}>
      {dot !== undefined && <span className={classes(css.dot, dot === 'live' && css.live)} aria-hidden="true" />}
      {children}
    </span>
  );
}
