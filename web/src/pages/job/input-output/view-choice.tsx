/** Whether a text is shown rendered or as it is stored. */
import { Button } from '../../../ui/forms/button.tsx';
import { jobWords } from '../../../words.ts';
import css from './input-output.module.css';

const words = jobWords.io;

export type View = 'rendered' | 'raw';

const VIEWS: readonly View[] = ['rendered', 'raw'];

type Props = { label: string; value: View; onChange: (view: View) => void };

export function ViewChoice({ label, value, onChange }: Props) {
  return (
    <div className={css.views} role="group" aria-label={label}>
      {VIEWS.map((view) => (
        <Button
          key={view}
          size="small"
          variant={view === value ? 'secondary' : 'quiet'}
          aria-pressed={view === value}
          onClick={() => onChange(view)}
        >
          {words[view]}
        </Button>
      ))}
    </div>
  );
}
