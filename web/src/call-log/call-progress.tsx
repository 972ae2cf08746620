/** How far a running call is: a bar if its tool told a total, and a line of text. */
import type { ToolProgress } from 'nightshift/client';
import css from './call-log.module.css';

export function CallProgress({ progress: { message, done, total } }: { progress: ToolProgress }) {
  const far = done === null ? null : total === null ? `${done}` : `${done} of ${total}`;
  const text = [message, far].filter((part) => part !== null).join(' · ');
  return (
    <div className={css.progress}>
      {done !== null && total !== null && total > 0 && <progress value={done} max={total} aria-label="Progress" />}
      <span>{text}</span>
    </div>
  );
}
