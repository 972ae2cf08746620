/** The state of a role that is edited, and how it is saved. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { RoleDefinition } from 'nightshift/client';
import { readChanges } from '../../config-editor/changes.ts';
import { toConfigDraft } from '../../config-editor/draft.ts';
import { keys } from '../../data/query/keys.ts';
import { putRole } from '../../data/query/workers.ts';
import type { VersionedRole } from '../../data/query/workers.ts';
import { showNotice } from '../../ui/layout/toaster.tsx';
import { toBase, withPatch } from './role-definition.ts';
import type { RoleBase } from './role-definition.ts';

/** `theirs`: the version that a save of this one would overwrite. */
export function useRole(name: string, first: RoleBase, onSaved: () => void) {
  const [base, setBase] = useState(first);
  const [draft, setDraft] = useState(() => toConfigDraft(first.definition));
  const [theirs, setTheirs] = useState<VersionedRole | null>(null);
  const { patch, faults } = readChanges(toConfigDraft(base.definition), draft);
  const save = useSave(name, onSaved, setTheirs);
  const saveAgainst = (etag: string | null): void => {
    if (patch !== null) save.mutate({ etag, definition: withPatch(base.definition, patch) });
  };
  const edit = (next: RoleBase): void => {
    setBase(next);
    setTheirs(null);
  };
  return {
    draft,
    setDraft,
    faults,
    theirs,
    saving: save,
    isReadable: patch !== null,
    save: () => saveAgainst(base.etag),
    show: (version: VersionedRole) => {
      edit(toBase(version));
      setDraft(toConfigDraft(version.role));
    },
    overwrite: ({ etag }: VersionedRole) => {
      edit({ ...base, etag });
      saveAgainst(etag);
    },
  };
}

type Save = { etag: string | null; definition: RoleDefinition };

function useSave(name: string, onSaved: () => void, onConflict: (theirs: VersionedRole) => void) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: ({ etag, definition }: Save) => putRole(name, etag, definition),
    onSuccess: (change) => {
      if (change.kind === 'conflict') return onConflict(change.theirs);
      showNotice(`Role ${name} saved as version ${change.role.version ?? 1}`);
      onSaved();
    },
    onSettled: () => cache.invalidateQueries({ queryKey: keys.roles }),
  });
}
