import { Trash2 } from 'lucide-react';
import type { PinnedText } from 'nightshift/client';
import { Button } from '../ui/forms/button.tsx';
import { TextArea, TextField } from '../ui/forms/field.tsx';
import css from './config-editor.module.css';
import { EditableList } from './editable-list.tsx';
import type { ListProps } from './editable-list.tsx';

/** Edits the texts that follow the system prompt in every prompt. */
export function PinnedTexts(list: ListProps<PinnedText>) {
  return (
    <EditableList
      {...list}
      legend="Pinned texts"
      hint="Pinned texts follow the system prompt in every prompt and are never compacted."
      add="Add text"
      newItem={{ title: '', text: '' }}
      className={css.pinned}
    >
      {({ item, number, put, remove }) => (
        <>
          <TextField
            label={`Title of text ${number}`}
            readOnly={list.isReadOnly}
            value={item.title}
            autoComplete="off"
            onChange={({ target }) => put({ title: target.value })}
          />
          <TextArea
            label={`Text ${number}`}
            readOnly={list.isReadOnly}
            rows={4}
            value={item.text}
            onChange={({ target }) => put({ text: target.value })}
          />
          {!list.isReadOnly && (
            <Button size="small" aria-label={`Remove text ${number}`} onClick={remove}>
              <Trash2 /> Remove
            </Button>
          )}
        </>
      )}
    </EditableList>
  );
}
