import { Segments } from '../../ui/forms/filters.tsx';
import { TextArea } from '../../ui/forms/field.tsx';
import type { TenantDraft } from './draft.ts';
import { tenantsWords } from '../../words.ts';
import css from './tenants.module.css';

const words = tenantsWords.allowed;

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
      <legend>{words.legend(label)}</legend>
      <Segments
        label={words.choice}
        value={value.isLimited ? 'some' : 'all'}
        segments={[
          { value: 'all', label: words.all },
          { value: 'some', label: words.some },
        ]}
        onChange={(chosen) => onChange({ ...value, isLimited: chosen === 'some' })}
      />
      {value.isLimited && (
        <TextArea
          label={words.names(label)}
          hideLabel
          rows={3}
          spellCheck={false}
          placeholder={example}
          hint={words.hint}
          value={value.names}
          error={error}
          onChange={({ target }) => onChange({ ...value, names: target.value })}
        />
      )}
    </fieldset>
  );
}
