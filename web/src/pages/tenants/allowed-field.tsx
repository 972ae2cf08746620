import { Segments } from '../../ui/forms/filters.tsx';
import { TextArea } from '../../ui/forms/field.tsx';
import type { TenantDraft } from './draft.ts';
import css from './tenants.module.css';

type Value = TenantDraft['allow'][keyof TenantDraft['allow']];
type Props = {
  label: string;
  example: string;
  value: Value;
  error: string | null;
  onChange: (value: Value) => void;
};

/** What the workers of a tenant may use of one kind. */
export function AllowedField({ label, example, value, error, onChange }: Props) {
  return (
    <fieldset className={css.group}>
      <legend>Allowed {label}</legend>
      <Segments
        label="Choice"
        value={value.isLimited ? 'some' : 'all'}
        segments={[
          { value: 'all', label: 'All' },
          { value: 'some', label: 'Only these' },
        ]}
        onChange={(chosen) => onChange({ ...value, isLimited: chosen === 'some' })}
      />
      {value.isLimited && (
        <TextArea
          label={`Names of allowed ${label}`}
          hideLabel
          rows={3}
          spellCheck={false}
          placeholder={example}
          hint="One name per line; * stands for any characters. An empty list allows none."
          value={value.names}
          error={error}
          onChange={({ target }) => onChange({ ...value, names: target.value })}
        />
      )}
    </fieldset>
  );
}
