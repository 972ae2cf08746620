import { commonWords } from '../../words.ts';
import css from './skeleton.module.css';

const WIDTHS = ['92%', '76%', '84%', '58%'];

/** Placeholder while content loads. */
export function Skeleton({ lines = 4, height }: { lines?: number; height?: number }) {
  return (
    <div className={css.lines} role="status" aria-label={commonWords.loading}>
      {Array.from({ length: lines }, (_, line) => (
        <div
          key={line}
          className={css.line}
          style={{ width: height === undefined ? WIDTHS[line % WIDTHS.length] : '100%', height }}
        />
      ))}
    </div>
  );
}
