/** What a schedule does if a run is unfinished or was missed, and its delay. */
import type { Schedule } from 'nightshift/client';
import { Field, TextField } from '../../ui/forms/field.tsx';
import { Select, type Option } from '../../ui/forms/select.tsx';
import type { Edited } from './edited.ts';
import css from './schedules.module.css';

const OVERLAPS: readonly Option<Schedule['overlap']>[] = [
  { value: 'queue', label: 'Post the input' },
  { value: 'skip', label: 'Do not post' },
  { value: 'interrupt', label: 'Cancel that job, then post the input' },
];

const CATCH_UPS: readonly Option<Schedule['catch_up']>[] = [
  { value: 'none', label: 'Do not run' },
  { value: 'one', label: 'One run for all' },
  { value: 'all', label: 'Run each, at most 100' },
];

export function PolicyFields({ edited: { draft, faultOf, onChange } }: { edited: Edited }) {
  return (
    <div className={css.pair}>
      <Field label="If the last job is unfinished">
        {(tie) => (
          <Select {...tie} value={draft.overlap} options={OVERLAPS} onChange={(overlap) => onChange({ overlap })} />
        )}
      </Field>
      <Field label="Missed runs">
        {(tie) => (
          <Select {...tie} value={draft.catchUp} options={CATCH_UPS} onChange={(catchUp) => onChange({ catchUp })} />
        )}
      </Field>
      <TextField
        label="Random delay in seconds"
        inputMode="numeric"
        autoComplete="off"
        hint="Each run starts late by a random time, at most this long."
        value={draft.jitter}
        error={faultOf('jitter_s')}
        onChange={({ target }) => onChange({ jitter: target.value.trim() })}
      />
    </div>
  );
}
