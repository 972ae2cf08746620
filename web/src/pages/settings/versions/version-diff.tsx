/** What differs between two versions of a role, field by field: texts line by line, other values as JSON. */
import type { RoleDefinition, RoleVersion } from 'nightshift/client';
import { CONFIG_MEMBERS } from '../../../config-editor/changes.ts';
import { FIELDS } from '../../../config-editor/fields.ts';
import { TextDiff } from '../../../diff/text-diff.tsx';
import { Field } from '../../../ui/forms/field.tsx';
import { Select } from '../../../ui/forms/select.tsx';
import { settingsWords } from '../../../words.ts';
import css from './versions.module.css';

const words = settingsWords.versions;

/** The options of a select box are not empty: this one stands for no version. */
const NONE = 'none';

type Props = {
  versions: readonly RoleVersion[];
  /** Null: there is none, so that all of the other one is new. */
  before: number | null;
  after: number;
  onChange: (changed: { before?: number | null; after?: number }) => void;
};

export function VersionDiff({ versions, before, after, onChange }: Props) {
  const options = versions.map(({ version }) => ({ value: String(version), label: words.version(version) }));
  const old = versions.find(({ version }) => version === before)?.definition ?? null;
  const now = versions.find(({ version }) => version === after)?.definition ?? null;
  const changed = CONFIG_MEMBERS.filter((member) => JSON.stringify(old?.[member]) !== JSON.stringify(now?.[member]));
  return (
    <section className={css.diff} aria-label={words.differences}>
      <div className={css.pair}>
        <Field label={words.from}>
          {(tie) => (
            <Select
              {...tie}
              value={before === null ? NONE : String(before)}
              options={[...options, { value: NONE, label: words.nothing }]}
              onChange={(chosen) => onChange({ before: chosen === NONE ? null : Number(chosen) })}
            />
          )}
        </Field>
        <Field label={words.to}>
          {(tie) => (
            <Select
              {...tie}
              value={String(after)}
              options={options}
              onChange={(chosen) => onChange({ after: Number(chosen) })}
            />
          )}
        </Field>
      </div>
      {changed.length === 0 && <p className={css.same}>{words.same}</p>}
      {changed.map((member) => (
        <Difference key={member} member={member} old={old} now={now} />
      ))}
    </section>
  );
}

type DifferenceProps = { member: keyof RoleDefinition; old: RoleDefinition | null; now: RoleDefinition | null };

/** Of one field. A side without a text says whether the field is not set, or empty. */
function Difference({ member, old, now }: DifferenceProps) {
  const { label } = FIELDS[member];
  const [before, after] = [textOf(old?.[member]), textOf(now?.[member])];
  const notes = [
    ...(old !== null && before === '' ? [words.side(words.from, old[member] !== undefined)] : []),
    ...(now !== null && after === '' ? [words.side(words.to, now[member] !== undefined)] : []),
  ];
  return (
    <div className={css.field}>
      <h3>{label}</h3>
      {notes.length > 0 && <p className={css.same}>{notes.join(' · ')}</p>}
      {before !== after && <TextDiff before={before} after={after} label={words.ofField(label)} />}
    </div>
  );
}

/** Empty: also if it is not set. */
function textOf(value: RoleDefinition[keyof RoleDefinition]): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return value;
  if (Array.isArray(value))
    return value.map((one) => (typeof one === 'string' ? one : JSON.stringify(one, null, 2))).join('\n');
  return JSON.stringify(value, null, 2);
}
