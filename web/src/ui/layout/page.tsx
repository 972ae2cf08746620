import { useEffect, type ReactNode } from 'react';
import { uiWords } from '../../words.ts';
import { classes } from '../classes.ts';
import css from './page.module.css';

/** Sets the document title. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = uiWords.pageTitle(title);
  }, [title]);
}

/** A page with a heading. The chat page has its own layout and calls `useTitle`. */
export function Page({
  title,
  about,
  actions,
  wide = false,
  children,
}: {
  title: string;
  about?: ReactNode;
  actions?: ReactNode;
  /** Uses the width of a large screen. */
  wide?: boolean;
  children: ReactNode;
}) {
  useTitle(title);
  return (
    <div className={classes(css.page, wide && css.wide)}>
      <header className={css.head}>
        <div>
          <h1>{title}</h1>
          {about !== undefined && <p className={css.about}>{about}</p>}
        </div>
        {actions !== undefined && <div className={css.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}
