/** Saves the shown view under a name. */
import { useState } from 'react';
import { TextField } from '../../../ui/forms/field.tsx';
import { FormDialog } from '../../../ui/layout/form-dialog.tsx';
import { commonWords, jobsWords } from '../../../words.ts';
import { hasRoomFor, isTaken, MOST_VIEWS, type View } from './views.ts';

const words = jobsWords.views;

export const LONGEST_NAME = 60;

type Props = { views: readonly View[]; onSave: (name: string) => void; onClose: () => void };

export function SaveDialog({ views, onSave, onClose }: Props) {
  const [name, setName] = useState('');
  const trimmed = name.trim();
  const hasRoom = hasRoomFor(views, trimmed);
  return (
    <FormDialog
      title={words.saveTitle}
      description={words.saveAbout}
      submit={commonWords.save}
      canSubmit={trimmed !== '' && hasRoom}
      saving={{ isPending: false, error: null }}
      onSubmit={() => {
        onSave(trimmed);
        onClose();
      }}
      onClose={onClose}
    >
      <TextField
        label={commonWords.name}
        value={name}
        maxLength={LONGEST_NAME}
        hint={!hasRoom ? words.noRoom(MOST_VIEWS) : isTaken(views, '', trimmed) ? words.replaces : undefined}
        onChange={({ target }) => setName(target.value)}
      />
    </FormDialog>
  );
}
