/** The input of a tool as a tree of its fields. */
import type { Json } from 'nightshift/client';
import { Badge } from '../../../ui/text/badge.tsx';
import { Sentence } from '../../../ui/text/sentence.tsx';
import { toolCatalogueWords } from '../../../words.ts';
import { fieldsOf, type Field } from './schema-fields.ts';
import settingsCss from '../settings.module.css';
import css from './tools.module.css';

const words = toolCatalogueWords.tool;

export function InputTree({ schema }: { schema: { [key: string]: Json } }) {
  const fields = fieldsOf(schema);
  if (fields.length === 0) return <p className={settingsCss.about}>{words.noFields}</p>;
  return <Fields fields={fields} label={words.input} />;
}

function Fields({ fields, label }: { fields: readonly Field[]; label: string }) {
  return (
    <ul className={css.fields} aria-label={label}>
      {fields.map((field) => (
        <li key={field.name}>
          <div className={css.field}>
            <code className={css.strong}>{field.name}</code>
            <span className={css.type}>{field.type ?? words.anyType}</span>
            {field.isRequired && <Badge tone="accent">{words.required}</Badge>}
            {field.limits.map(({ key, value }) => (
              <code key={key} className={css.limit}>
                {words.limit(key, value)}
              </code>
            ))}
          </div>
          {field.description !== null && <p className={settingsCss.about}>{field.description}</p>}
          {field.allowed.length > 0 && (
            <p className={settingsCss.about}>
              <Sentence text={words.allowed} gaps={{ values: <code>{field.allowed.join(', ')}</code> }} />
            </p>
          )}
          {field.default !== null && (
            <p className={settingsCss.about}>
              <Sentence text={words.default} gaps={{ value: <code>{field.default}</code> }} />
            </p>
          )}
          {field.fields.length > 0 && <Fields fields={field.fields} label={field.name} />}
        </li>
      ))}
    </ul>
  );
}
