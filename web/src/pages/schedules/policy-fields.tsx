/** What a schedule does if a run is unfinished or was missed, and its delay. */
import { Field, TextField } from '../../ui/forms/field.tsx';
import { Select } from '../../ui/forms/select.tsx';
import type { Edited } from './edited.ts';
import { schedulesWords } from '../../words.ts';
import css from './schedules.module.css';

const words = schedulesWords.policy;

const OVERLAPS = (['queue', 'skip', 'interrupt'] as const).map((value) => ({ value, label: words.overlaps[value] }));

const CATCH_UPS = (['none', 'one', 'all'] as const).map((value) => ({ value, label: words.catchUps[value] }));

export function PolicyFields({ edited: { draft, faultOf, onChange } }: { edited: Edited }) {
  return (
    <div className={css.pair}>
      <Field label={words.overlap}>
        {(tie) => (
          <Select {...tie} value={draft.overlap} options={OVERLAPS} onChange={(overlap) => onChange({ overlap })} />
        )}
      </Field>
      <Field label={words.catchUp}>
        {(tie) => (
          <Select {...tie} value={draft.catchUp} options={CATCH_UPS} onChange={(catchUp) => onChange({ catchUp })} />
        )}
      </Field>
      <TextField
        label={words.jitter}
        inputMode="numeric"
        autoComplete="off"
        hint={words.jitterHint}
        value={draft.jitter}
        error={faultOf('jitter_s')}
        onChange={({ target }) => onChange({ jitter: target.value.trim() })}
      />
    </div>
  );
}
