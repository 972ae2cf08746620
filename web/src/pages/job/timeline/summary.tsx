/** Where the time of a job went: a bar, and the parts in words. */
import { useMemo } from 'react';
import { classes } from '../../../ui/classes.ts';
import { formatDuration } from '../../../ui/text/time.tsx';
import css from './summary.module.css';
import type { Row } from './rows/rows.ts';
import { spentUntil, timeSpent } from './rows/time-spent.ts';
import { spentWords, timelineWords } from '../../../words.ts';

const words = timelineWords.summary;

export function Summary({ rows, now }: { rows: readonly Row[]; now: number }) {
  const known = useMemo(() => timeSpent(rows), [rows]);
  const spent = spentUntil(known, now);
  const whole = spent.reduce((sum, { ms }) => sum + ms, 0);
  if (whole === 0) return null;
  return (
    <section aria-label={words.title} className={css.summary}>
      <div className={css.bar} aria-hidden="true">
        {spent.map(({ on, ms }) => (
          <span key={on} className={css[on]} style={{ flexGrow: ms / whole }} />
        ))}
      </div>
      <ul className={css.parts}>
        {spent.map(({ on, ms }) => (
          <li key={on}>
            <span className={classes(css.swatch, css[on])} aria-hidden="true" />
            {spentWords[on]} <strong>{formatDuration(ms)}</strong>{' '}
            <span className={css.share}>{words.share((ms / whole) * 100)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
