import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { FormEvent } from 'react';
import { ConfigEditor } from '../../config-editor/config-editor.tsx';
import { systemQuery } from '../../data/query/system.ts';
import { Button } from '../../ui/forms/button.tsx';
import { TextField } from '../../ui/forms/field.tsx';
import { readError } from '../../ui/state/read-error.ts';
import { RoleConflict } from './role-conflict.tsx';
import type { RoleBase } from './role-definition.ts';
import css from './settings.module.css';
import { useRole } from './use-role.ts';

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

type Props = {
  /** Null for a new role. */
  name: string | null;
  first: RoleBase;
  isReadOnly: boolean;
  onClose: () => void;
};

export function RoleForm({ name, first, isReadOnly, onClose }: Props) {
  const [chosen, setChosen] = useState(name ?? '');
  const model = useQuery(systemQuery()).data?.default_model ?? 'provider/model';
  const { draft, faults, theirs, saving, ...role } = useRole(chosen, first, onClose);
  const canSave = role.isReadable && NAME.test(chosen) && !isReadOnly;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (canSave) role.save();
  };
  return (
    <form className={css.form} onSubmit={submit}>
      {name === null && <RoleName value={chosen} onChange={setChosen} />}
      <ConfigEditor
        draft={draft}
        faults={faults}
        isReadOnly={isReadOnly}
        unset={{ model, choice: 'Default' }}
        onChange={(changed) => role.setDraft({ ...draft, ...changed })}
      />
      {saving.isError && (
        <p className={css.error} role="alert">
          {readError(saving.error).message}
        </p>
      )}
      {theirs !== null && (
        <RoleConflict
          theirs={theirs.role}
          onShow={() => role.show(theirs)}
          onOverwrite={() => role.overwrite(theirs)}
        />
      )}
      <div className={css.actions}>
        <Button onClick={onClose}>{isReadOnly ? 'Close' : 'Cancel'}</Button>
        {!isReadOnly && (
          <Button type="submit" variant="primary" busy={saving.isPending} disabled={!canSave}>
            Save
          </Button>
        )}
      </div>
    </form>
  );
}

function RoleName({ value, onChange }: { value: string; onChange: (name: string) => void }) {
  const isFine = value === '' || NAME.test(value);
  return (
    <TextField
      label="Name"
      required
      value={value}
      onChange={({ target }) => onChange(target.value)}
      hint="Letters, digits, - and _."
      error={isFine ? null : 'Use only letters, digits, - and _, at most 64 characters.'}
    />
  );
}
