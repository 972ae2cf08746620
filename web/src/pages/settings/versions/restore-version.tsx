/** Restores an older version of a role: its definition becomes a new version, unless the role was changed meanwhile. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { RoleVersion } from 'nightshift/client';
import { useState } from 'react';
import { keys } from '../../../data/query/keys.ts';
import { restoreRole, type VersionedRole } from '../../../data/query/workers.ts';
import { FormDialog } from '../../../ui/layout/form-dialog.tsx';
import { showNotice } from '../../../ui/layout/toaster.tsx';
import { settingsWords } from '../../../words.ts';

const words = settingsWords.versions;

type Props = {
  name: string;
  version: RoleVersion;
  /** The current version when the dialog was opened. */
  current: RoleVersion;
  onClose: () => void;
  onRestored: () => void;
};

export function RestoreVersion({ name, version, current, onClose, onRestored }: Props) {
  const cache = useQueryClient();
  const [theirs, setTheirs] = useState<VersionedRole | null>(null);
  const restore = useMutation({
    mutationFn: () => restoreRole(name, version.definition ?? {}, current),
    onSuccess: (change) => {
      if (change.kind === 'conflict') return setTheirs(change.theirs);
      showNotice(words.restored(name, version.version, change.role.version ?? 1));
      onRestored();
      onClose();
    },
    onSettled: () => cache.invalidateQueries({ queryKey: keys.roles }),
  });
  return (
    <FormDialog
      title={words.restoreTitle(version.version)}
      description={words.restoreAbout(name)}
      submit={words.restoreThis}
      saving={restore}
      onSubmit={() => restore.mutate()}
      onClose={onClose}
    >
      {theirs !== null && <p role="alert">{settingsWords.roleConflict.changed(theirs.role.version ?? 1)}</p>}
    </FormDialog>
  );
}
