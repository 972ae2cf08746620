/** When a schedule runs: by a cron expression, at an interval, or once. */
import { OWN_TIMEZONE } from '../../data/days.ts';
import { Segments } from '../../ui/forms/filters.tsx';
import { TextField } from '../../ui/forms/field.tsx';
import { Select } from '../../ui/forms/select.tsx';
import { EVERY_UNITS, type EveryUnit } from './draft.ts';
import type { Edited } from './edited.ts';
import { schedulesWords } from '../../words.ts';
import css from './schedules.module.css';

const words = schedulesWords.timing;

const KINDS = (['cron', 'every', 'at'] as const).map((value) => ({ value, label: words.kinds[value] }));

const UNITS = (Object.keys(EVERY_UNITS) as EveryUnit[]).map((value) => ({ value, label: words.units[value].many }));

const TIMEZONES = [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])];

export function TimingFields({ edited }: { edited: Edited }) {
  const { draft, onChange } = edited;
  return (
    <>
      <Segments label={words.label} value={draft.timing} segments={KINDS} onChange={(timing) => onChange({ timing })} />
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
        label={words.cron}
        required
        placeholder={words.cronExample}
        className={css.when}
        autoComplete="off"
        spellCheck={false}
        hint={words.cronHint}
        value={draft.cron}
        error={faultOf('cron')}
        onChange={({ target }) => onChange({ cron: target.value })}
      />
      <TextField
        label={words.timezone}
        required
        suggestions={TIMEZONES}
        hint={words.timezoneHint}
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
        label={words.every}
        required
        inputMode="numeric"
        autoComplete="off"
        hint={words.everyHint}
        value={draft.every}
        error={faultOf('every_s')}
        onChange={({ target }) => onChange({ every: target.value.trim() })}
      />
      <Select
        label={words.unit}
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
      label={words.at}
      type="datetime-local"
      required
      hint={words.atHint(OWN_TIMEZONE)}
      value={draft.at}
      error={faultOf('at')}
      onChange={({ target }) => onChange({ at: target.value })}
    />
  );
}
