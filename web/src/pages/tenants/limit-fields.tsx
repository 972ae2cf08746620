import { useId } from 'react';
import { TextField } from '../../ui/forms/field.tsx';
import { LIMIT_TEXTS } from '../../usage/limit-texts.ts';
import type { TenantDraft } from './draft.ts';
import { tenantsWords } from '../../words.ts';
import { Sentence } from '../../ui/text/sentence.tsx';
import css from './tenants.module.css';

const words = tenantsWords.form;

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
      <legend>{words.limits}</legend>
      <p id={aboutId} className={css.about}>
        <Sentence text={words.limitsAbout} gaps={{ setting: <code>limits.tenant</code> }} />
      </p>
      <div className={css.grid}>
        {LIMIT_TEXTS.map(({ name, label, unit }) => (
          <TextField
            key={name}
            label={unit === undefined ? label : words.limitIn(label, unit)}
            inputMode="numeric"
            autoComplete="off"
            placeholder={words.noLimit}
            value={limits[name]}
            error={faultOf(`limits.${name}`)}
            onChange={({ target }) => onChange({ ...limits, [name]: target.value })}
          />
        ))}
      </div>
    </fieldset>
  );
}
