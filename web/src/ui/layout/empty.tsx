import type { ReactNode } from 'react';
import css from '../notice.module.css';

/** Empty state with an explanation and an optional action. */
export function Empty({
  icon,
  title,
  children,
  action,
}: {
  icon?: ReactNode;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className={css.notice}>
      {icon}
      <h2>{title}</h2>
      {children !== undefined && <div className={css.text}>{children}</div>}
      {action !== undefined && <div className={css.actions}>{action}</div>}
    </div>
  );
}
