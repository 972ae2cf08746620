/** Lists all branches of a context with fork point and length, and switches or deletes them. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import type { Branch } from 'nightshift/client';
import { useState } from 'react';
import { client } from '../../../data/client.ts';
import { branchesQuery, messageQuery } from '../../../data/query/contexts.ts';
import { textOf } from '../../../data/format.ts';
import { keys } from '../../../data/query/keys.ts';
import { Badge } from '../../../ui/text/badge.tsx';
import { Button, IconButton } from '../../../ui/forms/button.tsx';
import { ConfirmDialog } from '../../../ui/layout/confirm-dialog.tsx';
import { Dialog } from '../../../ui/layout/dialog.tsx';
import { LongList, type Place } from '../../../ui/layout/long-list.tsx';
import { ErrorState } from '../../../ui/state/error-state.tsx';
import { readError } from '../../../ui/state/read-error.ts';
import { Skeleton } from '../../../ui/layout/skeleton.tsx';
import { RelativeTime } from '../../../ui/text/time.tsx';
import { Tokens } from '../../../ui/text/tokens.tsx';
import { branchWords, commonWords } from '../../../words.ts';
import css from './branches.module.css';

const words = branchWords.dialog;
const deleteWords = branchWords.delete;

/** Page size; small, because each row fetches the message at its fork point. */
const PAGE = 20;

export function BranchesDialog({ contextId, onClose }: { contextId: string; onClose: () => void }) {
  const [shown, setShown] = useState(PAGE);
  const branches = useQuery(branchesQuery(contextId));
  const all = branches.data ?? [];
  return (
    <Dialog open onClose={onClose} wide title={words.title} description={words.about}>
      {branches.isPending && <Skeleton lines={3} height={48} />}
      {branches.isError && all.length === 0 && (
        <ErrorState error={branches.error} onRetry={() => void branches.refetch()} />
      )}
      <LongList
        label={words.list}
        className={css.list}
        items={all.slice(0, shown)}
        itemKey={({ name }) => name}
        more={all.length > shown}
      >
        {(branch, place) => <BranchRow key={branch.name} place={place} contextId={contextId} branch={branch} />}
      </LongList>
      {all.length > shown && (
        <Button onClick={() => setShown(shown + PAGE)}>{words.showMore(all.length - shown)}</Button>
      )}
    </Dialog>
  );
}

function BranchRow({ place, contextId, branch }: { place: Place; contextId: string; branch: Branch }) {
  const cache = useQueryClient();
  const refresh = () => cache.invalidateQueries({ queryKey: keys.context(contextId) });
  const go = useMutation({
    mutationFn: () => client.contexts.branches.switch(contextId, branch.name),
    onSuccess: refresh,
  });
  const [isAsking, setAsking] = useState(false);
  const remove = useMutation({
    mutationFn: () => client.contexts.branches.delete(contextId, branch.name),
    onSuccess: () => {
      setAsking(false);
      return refresh();
    },
  });
  return (
    <li {...place} className={css.row}>
      <div className={css.what}>
        <p className={css.name}>
          {branch.name} {branch.active && <Badge tone="accent">{words.active}</Badge>}
        </p>
        <ForkPoint contextId={contextId} branch={branch} />
        <p className={css.facts}>
          {branch.length !== null && `${words.messages(branch.length)} · `}
          <Tokens usage={branch.usage} /> · <RelativeTime at={branch.created_at} />
        </p>
        {go.error !== null && (
          <p className={css.refused} role="alert">
            {readError(go.error).message}
          </p>
        )}
      </div>
      {!branch.active && (
        <Button size="small" busy={go.isPending} onClick={() => go.mutate()} aria-label={words.switchTo(branch.name)}>
          {words.switch}
        </Button>
      )}
      {/* The API refuses branches that cannot be deleted. */}
      <IconButton label={deleteWords.open(branch.name)} size="small" variant="risky" onClick={() => setAsking(true)}>
        <Trash2 />
      </IconButton>
      {isAsking && (
        <ConfirmDialog
          title={deleteWords.title(branch.name)}
          description={deleteWords.about}
          submit={commonWords.delete}
          saving={remove}
          onSubmit={() => remove.mutate()}
          onClose={() => setAsking(false)}
        />
      )}
    </li>
  );
}

function ForkPoint({ contextId, branch }: { contextId: string; branch: Branch }) {
  const { parent, fork_message_id: messageId } = branch;
  const { data: message } = useQuery({
    ...messageQuery(contextId, messageId ?? ''),
    enabled: messageId !== null,
    staleTime: Infinity,
  });
  if (parent === null) return <p className={css.facts}>{words.root}</p>;
  if (messageId === null) return <p className={css.facts}>{words.fromNothing(parent)}</p>;
  const excerpt = message === undefined ? '' : textOf(message).slice(0, 80);
  return (
    <p className={css.facts}>
      {message === undefined ? words.from(parent) : words.fromAfter(parent, message.turn)}
      {excerpt !== '' && <q className={css.excerpt}>{excerpt}</q>}
    </p>
  );
}
