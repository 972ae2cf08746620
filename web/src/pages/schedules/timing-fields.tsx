/** When a schedule runs: by a cron expression, at an interval, or once. */
import { OWN_TIMEZONE } from '../../data/days.ts';
import { Segments } from '../../ui/forms/filters.tsx';
import { TextField } from '../../ui/forms/field.tsx';
import { Select } from '../../ui/forms/select.tsx';
import { EVERY_UNITS, type EveryUnit } from './draft.ts';
import type { Edited } from './edited.ts';
import css from './schedules.module.css';

const KINDS = [
  { value: 'cron', label: 'Cron expression' },
  { value: 'every', label: 'Interval' },
  { value: 'at', label: 'Once' },
] as const;

const UNITS = (Object.keys(EVERY_UNITS) as EveryUnit[]).map((value) => ({ value, label: value }));

const TIMEZONES = [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])];

export function TimingFields({ edited }: { edited: Edited }) {
  const { draft, onChange } = edited;
  return (
    <>
      <Segments
        label="When it runs"
        value={draft.timing}
        segments={KINDS}
        onChange={(timing) => onChange({ timing })}
      />
      {draft.timing === 'cron' && <Cron edited={edited} />}
      {draft.timing === 'every' && <Every edited={edited} />}
      {draft.timing === 'at' && <Once edited={edited} />}
    </>
  );
}

function Cron({ edited: { draft, faultOf, onChange } }: { edited: Edited }) {
  return (
    <div className={css.pair}>
      <TextField
        label="Cron expression"
        required
        placeholder="0 9 * * MON-FRI"
        className={css.when}
        autoComplete="off"
        spellCheck={false}
        hint="Minute, hour, day of month, month, day of week."
        value={draft.cron}
        error={faultOf('cron')}
        onChange={({ target }) => onChange({ cron: target.value })}
      />
      <TextField
        label="Time zone"
        required
        suggestions={TIMEZONES}
        hint="Like Europe/Berlin, or UTC."
        value={draft.timezone}
        error={faultOf('timezone')}
        onChange={({ target }) => onChange({ timezone: target.value })}
      />
    </div>
  );
}

function Every({ edited: { draft, faultOf, onChange } }: { edited: Edited }) {
  return (
    <div className={css.pair}>
      <TextField
        label="Every"
        required
        inputMode="numeric"
        autoComplete="off"
        hint="The first run is one interval after you set it."
        value={draft.every}
        error={faultOf('every_s')}
        onChange={({ target }) => onChange({ every: target.value.trim() })}
      />
      <Select
        label="Unit of the interval"
        className={css.unit}
        value={draft.everyUnit}
        options={UNITS}
        onChange={(everyUnit) => onChange({ everyUnit })}
      />
    </div>
  );
}

function Once({ edited: { draft, faultOf, onChange } }: { edited: Edited }) {
  return (
    <TextField
      label="At"
      type="datetime-local"
      required
      hint={`In the time zone of this browser, ${OWN_TIMEZONE}.`}
      value={draft.at}
      error={faultOf('at')}
      onChange={({ target }) => onChange({ at: target.value })}
    />
  );
}
