import type { ReactNode } from 'react';
import css from './card.module.css';
import { classes } from '../classes.ts';

/** A card with a title. `flush`: the content has no padding. */
export function Card({
  title,
  actions,
  flush = false,
  className,
  children,
}: {
  title?: ReactNode;
  actions?: ReactNode;
  flush?: boolean;
  className?: string | undefined;
  children: ReactNode;
}) {
  return (
    <section className={classes(css.card, className)}>
      {title !== undefined && (
        <header className={css.head}>
          <h2>{title}</h2>
          {actions}
        </header>
      )}
      <div className={classes(!flush && css.padded)}>{children}</div>
    </section>
  );
}
