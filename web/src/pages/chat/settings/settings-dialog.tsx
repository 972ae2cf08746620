/**
 * Edits the settings of a context and its worker. Sends only changed members, and never overwrites concurrent changes.
 */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { PatchContext } from 'nightshift/client';
import { useState } from 'react';
import { ConfigEditor } from '../../../config-editor/config-editor.tsx';
import type { EffectiveOf } from '../../../config-editor/inherited.ts';
import { keys } from '../../../data/query/keys.ts';
import { changeContext, readVersioned, type VersionedContext } from '../../../data/query/versioned-context.ts';
import { effectiveQuery } from '../../../data/query/workers.ts';
import { TextField } from '../../../ui/forms/field.tsx';
import { Dialog } from '../../../ui/layout/dialog.tsx';
import { ErrorState } from '../../../ui/state/error-state.tsx';
import { Skeleton } from '../../../ui/layout/skeleton.tsx';
import { showNotice } from '../../../ui/layout/toaster.tsx';
import { contextSettingsWords } from '../../../words.ts';
import { Conflict } from './conflict.tsx';
import { labelOf, toDraft, toPatch, type Draft, type Member } from './draft.ts';
import { merge } from './merge.ts';

const words = contextSettingsWords;

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
  const workerId = read.data?.context.worker_id;
  const worker = useQuery({ ...effectiveQuery(workerId ?? ''), enabled: workerId !== undefined });
  // Without what applies, the form still shows and changes the own values.
  if (read.data !== undefined && !worker.isPending) {
    const { effective: settings = null, role = null } = worker.data ?? {};
    const effective = settings === null ? null : { settings, role };
    return <Editor contextId={contextId} onClose={onClose} first={read.data} effective={effective} />;
  }
  return (
    <Dialog open onClose={onClose} wide title={words.title}>
      {read.isError ? (
        <ErrorState error={read.error} onRetry={() => void read.refetch()} />
      ) : (
        <Skeleton lines={6} height={32} />
      )}
    </Dialog>
  );
}

function Editor({
  contextId,
  onClose,
  first,
  effective,
}: Props & { first: VersionedContext; effective: EffectiveOf | null }) {
  const [base, setBase] = useState(first);
  const [draft, setDraft] = useState<Draft>(() => toDraft(first.context));
  const [theirs, setTheirs] = useState<VersionedContext | null>(null);
  const before = toDraft(base.context);
  const { patch, faults } = toPatch(before, draft);
  const save = useSave(contextId, base.etag, { onConflict: setTheirs, onSaved: onClose });
  const change = (changed: Partial<Draft>): void => setDraft({ ...draft, ...changed });

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
      title={words.title}
      description={effective === null ? words.about : words.aboutEffective}
    >
      <ConfigEditor
        edited={{ draft, faults, isReadOnly: false, effective, unset: FROM_THE_ROLE, onChange: change }}
        saving={save}
        canSave={patch !== null && Object.keys(patch).length > 0}
        onSave={() => patch !== null && save.mutate(patch)}
        onClose={onClose}
      >
        <Title value={draft.title} onChange={(title) => change({ title })} />
      </ConfigEditor>
    </Dialog>
  );
}

function Title({ value, onChange }: { value: string; onChange: (title: string) => void }) {
  return (
    <TextField
      label={labelOf('title')}
      autoComplete="off"
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}

const FROM_THE_ROLE = {
  model: words.fromRole,
  choice: words.fromRole,
  tools: words.toolsOfRole,
};

type Outcome = { onConflict: (theirs: VersionedContext) => void; onSaved: () => void };

function useSave(contextId: string, etag: string, { onConflict, onSaved }: Outcome) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (patch: PatchContext) => changeContext(contextId, etag, patch),
    onSuccess: (change) => {
      if (change.kind === 'conflict') return onConflict(change.theirs);
      cache.setQueryData(keys.contextRecord(contextId), change.context);
      void cache.invalidateQueries({ queryKey: keys.contexts });
      showNotice(words.saved);
      onSaved();
    },
  });
}
