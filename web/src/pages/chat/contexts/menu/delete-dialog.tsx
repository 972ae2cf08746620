import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Context, WorkerTree, WorkerTreeNode } from 'nightshift/client';
import { client } from '../../../../data/client.ts';
import { contextQuery } from '../../../../data/query/contexts.ts';
import { contextName } from '../../../../data/format.ts';
import { keys } from '../../../../data/query/keys.ts';
import { treeQuery } from '../../../../data/query/workers.ts';
import { ConfirmDialog } from '../../../../ui/layout/confirm-dialog.tsx';
import { showNotice } from '../../../../ui/layout/toaster.tsx';
import { commonWords, contextMenuWords } from '../../../../words.ts';

const words = contextMenuWords.delete;

/** Asks for confirmation and lists what is deleted: the context, its worker and all attached workers below it. */
export function DeleteDialog({ contextId, onClose }: { contextId: string; onClose: () => void }) {
  const cache = useQueryClient();
  const navigate = useNavigate();
  const { data: context } = useQuery(contextQuery(contextId));
  const workerId = context?.worker_id ?? '';
  const { data: tree } = useQuery({ ...treeQuery(workerId), enabled: workerId !== '' });
  const remove = useMutation({
    mutationFn: () => client.contexts.delete(contextId),
    onSuccess: async () => {
      const focusNext = rowBeside(contextId);
      onClose();
      showNotice(words.done);
      await navigate({ to: '/' });
      focusNext();
      cache.removeQueries({ queryKey: keys.context(contextId) });
      await cache.invalidateQueries({ queryKey: keys.contexts });
    },
  });
  return (
    <ConfirmDialog
      title={context === undefined ? words.title : words.titleOf(contextName(context))}
      description={words.about}
      goes={context === undefined ? [] : linesOf(context, tree)}
      submit={commonWords.delete}
      saving={remove}
      onSubmit={() => remove.mutate()}
      onClose={onClose}
    />
  );
}

function linesOf(context: Context, tree: WorkerTree | undefined): string[] {
  const below = tree?.children ?? [];
  return [
    words.messages(context.message_count),
    words.worker(tree?.name),
    ...(below.length === 0 ? [] : [words.below(attached(below), tree?.truncated === true)]),
  ];
}

/** How long the next page may take to show its list. */
const SHOWN_MS = 2_000;

/** Focuses the row of the list that is next to the one of a context, if there is one, once the next page shows it. */
function rowBeside(contextId: string): () => void {
  const ids = [...document.querySelectorAll<HTMLElement>('a[data-context]')].map((row) => row.dataset['context']);
  const at = ids.indexOf(contextId);
  const next = at === -1 ? undefined : (ids[at + 1] ?? ids[at - 1]);
  return () => {
    const until = performance.now() + SHOWN_MS;
    const look = (): void => {
      const row = document.querySelector<HTMLElement>(`[data-open="false"] a[data-context="${next}"]`);
      if (row !== null) row.focus();
      else if (performance.now() < until) requestAnimationFrame(look);
    };
    if (next !== undefined) look();
  };
}

function attached(nodes: readonly WorkerTreeNode[]): number {
  return nodes.filter(({ detached }) => !detached).reduce((sum, { children }) => sum + 1 + attached(children), 0);
}
