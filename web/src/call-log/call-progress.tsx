/** How far a running call is: a bar if its tool told a total, and a line of text. */
import type { ToolProgress } from 'nightshift/client';
import { callLogWords } from '../words.ts';
import css from './call-log.module.css';

export function CallProgress({ progress: { message, done, total } }: { progress: ToolProgress }) {
  const far = done === null ? null : total === null ? `${done}` : callLogWords.doneOf(done, total);
  const text = [message, far].filter((part) => part !== null).join(' · ');
  return (
    <div className={css.progress}>
      {done !== null && total !== null && total > 0 && (
        <progress value={done} max={total} aria-label={callLogWords.progress} />
      )}
      <span>{text}</span>
    </div>
  );
}
