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
  const changed = CONFIG_MEMBERS.filter((member) => textOf(old, member) !== textOf(now, member));
  return (
    <section className={css.diff} aria-label={words.differences}>
      <div className={css.pair}>
        <Field label={words.from}>
          {(tie) => (
            <Select
              {...tie}
              value={before === null ? NONE : String(before)}
              options={[...(before === null ? [{ value: NONE, label: words.nothing }] : []), ...options]}
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
        <div key={member} className={css.field}>
          <h3>{FIELDS[member].label}</h3>
          <TextDiff
            before={textOf(old, member)}
            after={textOf(now, member)}
            label={words.ofField(FIELDS[member].label)}
          />
        </div>
      ))}
    </section>
  );
}

function textOf(definition: RoleDefinition | null, member: keyof RoleDefinition): string {
  const value = definition?.[member];
  if (value === undefined) return '';
  if (typeof value === 'string') return value;
  if (Array.isArray(value))
    return value.map((one) => (typeof one === 'string' ? one : JSON.stringify(one, null, 2))).join('\n');
  return JSON.stringify(value, null, 2);
}
