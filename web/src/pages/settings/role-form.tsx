import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { readChanges, withPatch } from '../../config-editor/changes.ts';
import { ConfigEditor } from '../../config-editor/config-editor.tsx';
import { toConfigDraft } from '../../config-editor/draft.ts';
import { keys } from '../../data/query/keys.ts';
import { systemQuery } from '../../data/query/system.ts';
import { putRole, type VersionedRole } from '../../data/query/workers.ts';
import { TextField } from '../../ui/forms/field.tsx';
import { showNotice } from '../../ui/layout/toaster.tsx';
import { RoleConflict } from './role-conflict.tsx';
import { toBase, type RoleBase } from './role-definition.ts';
import { commonWords, settingsWords } from '../../words.ts';

const words = settingsWords.role;

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

type Props = {
  /** Null for a new role. */
  known: string | null;
  first: RoleBase;
  isReadOnly: boolean;
  onClose: () => void;
};

export function RoleForm({ known, first, isReadOnly, onClose }: Props) {
  const model = useQuery(systemQuery()).data?.default_model ?? words.anyModel;
  const [name, setName] = useState(known ?? '');
  const [base, setBase] = useState(first);
  const [draft, setDraft] = useState(() => toConfigDraft(first.definition));
  const [theirs, setTheirs] = useState<VersionedRole | null>(null);
  const { patch, faults } = readChanges(toConfigDraft(base.definition), draft);
  const save = useSave(name, { onConflict: setTheirs, onSaved: onClose });
  const saveAs = (etag: string | null): void => {
    if (patch !== null) save.mutate({ ...base, etag, definition: withPatch(base.definition, patch) });
  };
  const leaveConflict = (next: RoleBase): void => {
    setBase(next);
    setTheirs(null);
  };
  const onShow = (shown: VersionedRole): void => {
    leaveConflict(toBase(shown));
    setDraft(toConfigDraft(shown.role));
  };
  const onOverwrite = ({ etag }: VersionedRole): void => {
    leaveConflict({ ...base, etag });
    saveAs(etag);
  };
  const effective = base.effective === null ? null : { settings: base.effective, role: null };
  const change = (changed: Partial<typeof draft>): void => setDraft({ ...draft, ...changed });
  return (
    <ConfigEditor
      edited={{ draft, faults, isReadOnly, effective, unset: { model, choice: words.default }, onChange: change }}
      notice={theirs !== null && <RoleConflict theirs={theirs} onShow={onShow} onOverwrite={onOverwrite} />}
      saving={save}
      canSave={patch !== null && NAME.test(name) && !isReadOnly}
      onSave={() => saveAs(base.etag)}
      onClose={onClose}
    >
      {known === null && <RoleName value={name} onChange={setName} />}
    </ConfigEditor>
  );
}

type Outcome = { onConflict: (theirs: VersionedRole) => void; onSaved: () => void };

function useSave(name: string, { onConflict, onSaved }: Outcome) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: ({ etag, definition }: RoleBase) => putRole(name, etag, definition),
    onSuccess: (change) => {
      if (change.kind === 'conflict') return onConflict(change.theirs);
      showNotice(words.saved(name, change.role.version ?? 1));
      onSaved();
    },
    onSettled: () => cache.invalidateQueries({ queryKey: keys.roles }),
  });
}

function RoleName({ value, onChange }: { value: string; onChange: (name: string) => void }) {
  const isFine = value === '' || NAME.test(value);
  return (
    <TextField
      label={commonWords.name}
      required
      value={value}
      onChange={({ target }) => onChange(target.value)}
      hint={words.nameHint}
      error={isFine ? null : words.nameFault}
    />
  );
}
