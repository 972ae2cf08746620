/** The fields of a config, by their kind. */
import { Choices } from '../ui/forms/choices.tsx';
import { Field, TextArea, TextField } from '../ui/forms/field.tsx';
import { Select } from '../ui/forms/select.tsx';
import type { Option } from '../ui/forms/select.tsx';
import type { Faults } from './changes.ts';
import css from './config-editor.module.css';
import { LABELS } from './draft.ts';
import type { ConfigDraft, ConfigMember } from './draft.ts';

export type Edited = {
  draft: ConfigDraft;
  faults: Faults;
  isReadOnly: boolean;
  /** What is shown for fields that are not set. */
  unset: { model: string; choice: string; tools?: string };
  onChange: (changed: Partial<ConfigDraft>) => void;
};

type MemberOf<Value> = {
  [M in ConfigMember]: ConfigDraft[M] extends Value ? (Value extends ConfigDraft[M] ? M : never) : never;
}[ConfigMember];

type Props<Value> = { edited: Edited; member: MemberOf<Value>; hint?: string | undefined };

/** What a text field needs to edit a member. */
function bind({ draft, faults, isReadOnly, onChange }: Edited, member: MemberOf<string>) {
  return {
    label: LABELS[member],
    value: draft[member],
    readOnly: isReadOnly,
    error: faults[member],
    onChange: ({ target }: { target: { value: string } }) => onChange({ [member]: target.value }),
  };
}

type LineProps = Props<string> & {
  suggestions?: readonly string[];
  placeholder?: string;
  inputMode?: 'numeric';
};

export function Line({ edited, member, ...rest }: LineProps) {
  return <TextField autoComplete="off" {...bind(edited, member)} {...rest} />;
}

export function Count(props: Props<string>) {
  return <Line inputMode="numeric" {...props} />;
}

export function Prose({ edited, member, ...rest }: Props<string> & { rows: number }) {
  return <TextArea {...bind(edited, member)} {...rest} />;
}

export function Code({ edited, member, ...rest }: Props<string> & { rows: number }) {
  return <TextArea className={css.code} spellCheck={false} {...bind(edited, member)} {...rest} />;
}

export function Names({
  edited: { draft, isReadOnly, onChange },
  member,
  ...rest
}: Props<readonly string[]> & { known: readonly string[] }) {
  return (
    <Choices
      label={LABELS[member]}
      disabled={isReadOnly}
      chosen={draft[member]}
      onChange={(names) => onChange({ [member]: names })}
      {...rest}
    />
  );
}

/** The options of a select box are not empty: this one stands for the empty value. */
const UNSET = 'unset';

/** A choice, which may be left open. */
export function Choice<Value extends string>({
  label,
  edited,
  value,
  options,
  onChange,
}: {
  label: string;
  edited: Edited;
  value: Value | '';
  options: readonly Option<Value>[];
  onChange: (value: Value | '') => void;
}) {
  return (
    <Field label={label}>
      {({ id }) => (
        <Select
          id={id}
          disabled={edited.isReadOnly}
          value={value === '' ? UNSET : value}
          options={[{ value: UNSET, label: edited.unset.choice }, ...options]}
          onChange={(chosen) => onChange(chosen === UNSET ? '' : chosen)}
        />
      )}
    </Field>
  );
}
