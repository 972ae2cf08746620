import { Plus, Trash2 } from 'lucide-react';
import type { PinnedText } from 'nightshift/client';
import { Button } from '../ui/forms/button.tsx';
import { TextArea, TextField } from '../ui/forms/field.tsx';
import css from './config-editor.module.css';
import type { EditedConfig } from './edited.ts';
import { orUnset } from './inherited.ts';
import { configWords } from '../words.ts';

const words = configWords.pinned;
const { label, hint } = configWords.fields.pinned;

/** Edits the texts that follow the system prompt in every prompt. */
export function PinnedTexts({ edited }: { edited: EditedConfig }) {
  const { draft, isReadOnly, onChange } = edited;
  const texts = draft.pinned ?? [];
  const set = (left: PinnedText[]): void => onChange({ pinned: orUnset(edited, 'pinned', left) });
  const put = (at: number, text: PinnedText): void => set(texts.with(at, text));
  return (
    <fieldset className={css.list}>
      <legend>{label}</legend>
      <p className={css.hint}>{hint}</p>
      {texts.map((pinned, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- a text is identified by its position
        <div key={at} className={css.pinned}>
          <TextField
            label={words.title(at + 1)}
            readOnly={isReadOnly}
            value={pinned.title}
            autoComplete="off"
            onChange={({ target }) => put(at, { ...pinned, title: target.value })}
          />
          <TextArea
            label={words.text(at + 1)}
            rows={4}
            readOnly={isReadOnly}
            value={pinned.text}
            onChange={({ target }) => put(at, { ...pinned, text: target.value })}
          />
          {!isReadOnly && (
            <Button size="small" aria-label={words.removeText(at + 1)} onClick={() => set(texts.toSpliced(at, 1))}>
              <Trash2 /> {words.remove}
            </Button>
          )}
        </div>
      ))}
      {!isReadOnly && (
        <Button size="small" onClick={() => set([...texts, { title: '', text: '' }])}>
          <Plus /> {words.add}
        </Button>
      )}
    </fieldset>
  );
}
