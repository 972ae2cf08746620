import { useId } from 'react';
import { TextField } from '../../ui/forms/field.tsx';
import { LIMIT_TEXTS } from '../../usage/limit-texts.ts';
import type { TenantDraft } from './draft.ts';
import css from './tenants.module.css';

type Props = {
  limits: TenantDraft['limits'];
  faultOf: (path: string) => string | null;
  onChange: (limits: TenantDraft['limits']) => void;
};

/** A limit that is empty is that of the config file, if that has one. */
export function LimitFields({ limits, faultOf, onChange }: Props) {
  const aboutId = useId();
  return (
    <fieldset className={css.group} aria-describedby={aboutId}>
      <legend>Limits</legend>
      <p id={aboutId} className={css.about}>
        If a field is empty, <code>limits.tenant</code> of the config file applies. If that is not set either, there is
        no limit.
      </p>
      <div className={css.grid}>
        {LIMIT_TEXTS.map(({ name, label, unit }) => (
          <TextField
            key={name}
            label={unit === undefined ? label : `${label} (${unit})`}
            inputMode="numeric"
            autoComplete="off"
            placeholder="none of its own"
            value={limits[name]}
            error={faultOf(`limits.${name}`)}
            onChange={({ target }) => onChange({ ...limits, [name]: target.value })}
          />
        ))}
      </div>
    </fieldset>
  );
}
