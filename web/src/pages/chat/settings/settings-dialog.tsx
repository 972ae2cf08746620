/**
 * Edits the settings of a context and its worker. Sends only changed members, and never overwrites concurrent changes.
 */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { keys } from '../../../data/query/keys.ts';
import { changeContext, readVersioned } from '../../../data/query/versioned-context.ts';
import type { VersionedContext } from '../../../data/query/versioned-context.ts';
import { Button } from '../../../ui/forms/button.tsx';
import { Dialog } from '../../../ui/layout/dialog.tsx';
import { ErrorState } from '../../../ui/state/error-state.tsx';
import { readError } from '../../../ui/state/read-error.ts';
import { Skeleton } from '../../../ui/layout/skeleton.tsx';
import { showNotice } from '../../../ui/layout/toaster.tsx';
import { Conflict } from './conflict.tsx';
import { changed, toDraft, toPatch } from './draft.ts';
import type { Draft, Member } from './draft.ts';
import { merge } from './merge.ts';
import css from './settings.module.css';
import { SettingsForm } from './settings-form.tsx';

type Props = { contextId: string; onClose: () => void };

export function SettingsDialog({ contextId, onClose }: Props) {
  // Fetched on each opening, so that the ETag belongs to the edited version.
  const read = useQuery({
    queryKey: keys.versioned(contextId),
    queryFn: ({ signal }) => readVersioned(contextId, signal),
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  if (read.data !== undefined) return <Editor contextId={contextId} onClose={onClose} first={read.data} />;
  return (
    <Dialog open onClose={onClose} wide title="Settings">
      {read.isError ? (
        <ErrorState error={read.error} onRetry={() => void read.refetch()} />
      ) : (
        <Skeleton lines={6} height={32} />
      )}
    </Dialog>
  );
}

function Editor({ contextId, onClose, first }: Props & { first: VersionedContext }) {
  const [base, setBase] = useState(first);
  const [draft, setDraft] = useState<Draft>(() => toDraft(first.context));
  const [wrong, setWrong] = useState<{ member: Member; message: string } | null>(null);
  const [theirs, setTheirs] = useState<VersionedContext | null>(null);
  const cache = useQueryClient();
  const before = toDraft(base.context);
  const touched = changed(before, draft);

  const save = useMutation({
    mutationFn: async () => {
      const read = toPatch(before, draft);
      if (read.kind === 'wrong') {
        setWrong(read);
        return;
      }
      setWrong(null);
      const change = await changeContext(contextId, base.etag, read.patch);
      if (change.kind === 'conflict') {
        setTheirs(change.theirs);
        return;
      }
      cache.setQueryData(keys.contextRecord(contextId), change.context);
      void cache.invalidateQueries({ queryKey: keys.contexts });
      showNotice('Saved. The settings apply from the next step on.');
      onClose();
    },
  });

  if (theirs !== null) {
    const take = (keptMine: readonly Member[]): void => {
      setDraft(merge(before, draft, toDraft(theirs.context), keptMine));
      setBase(theirs);
      setTheirs(null);
    };
    return (
      <Conflict
        base={before}
        mine={draft}
        theirs={toDraft(theirs.context)}
        onTake={take}
        onClose={() => setTheirs(null)}
      />
    );
  }
  return (
    <Dialog
      open
      onClose={onClose}
      wide
      title="Settings"
      description="Empty fields use the value of the role, or the default."
      actions={
        <>
          {save.isError && (
            <p className={css.refused} role="alert">
              {readError(save.error).message}
            </p>
          )}
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            busy={save.isPending}
            disabled={touched.length === 0}
            onClick={() => save.mutate()}
          >
            Save
          </Button>
        </>
      }
    >
      <SettingsForm draft={draft} wrong={wrong} onChange={setDraft} />
    </Dialog>
  );
}
