/** Turns new jobs off and on, and shows those that are not in the list yet. */
import { Button } from '../../ui/forms/button.tsx';
import { Checkbox } from '../../ui/forms/checkbox.tsx';
import { jobsWords } from '../../words.ts';
import css from './jobs.module.css';

export function LiveSwitch({ isLive, onLive }: { isLive: boolean; onLive: (isLive: boolean) => void }) {
  return (
    <div className={css.live}>
      <Checkbox label={jobsWords.live} checked={isLive} onChange={onLive} />
    </div>
  );
}

/** Lies over the top of the list, also while it is scrolled, so that it moves no row. */
export function NewJobs({ count, onShow }: { count: number; onShow: () => void }) {
  return (
    <div className={css.newer} role="status">
      {count > 0 && (
        <Button size="small" variant="primary" onClick={onShow}>
          {jobsWords.newer(count)}
        </Button>
      )}
    </div>
  );
}
