import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { WorkerTreeNode } from 'nightshift/client';
import { client } from '../../../../data/client.ts';
import { contextQuery } from '../../../../data/query/contexts.ts';
import { contextName } from '../../../../data/format.ts';
import { keys } from '../../../../data/query/keys.ts';
import { treeQuery } from '../../../../data/query/workers.ts';
import { Button } from '../../../../ui/forms/button.tsx';
import { Dialog } from '../../../../ui/layout/dialog.tsx';
import { readError } from '../../../../ui/state/read-error.ts';
import { showNotice } from '../../../../ui/layout/toaster.tsx';
import { count } from './clear-dialog.tsx';
import css from './context-menu.module.css';

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
      onClose();
      showNotice('Deleted');
      await navigate({ to: '/' });
      cache.removeQueries({ queryKey: keys.context(contextId) });
      await cache.invalidateQueries({ queryKey: keys.contexts });
    },
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title={context === undefined ? 'Delete?' : `Delete “${contextName(context)}”?`}
      description="This cannot be undone. It deletes:"
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="danger" busy={remove.isPending} onClick={() => remove.mutate()}>
            Delete permanently
          </Button>
        </>
      }
    >
      {context !== undefined && (
        <ul className={css.goes}>
          <li>
            {count(context.message_count, 'message')} and all delayed and queued inputs; a running job is cancelled
          </li>
          <li>{tree === undefined ? 'Its worker' : `The worker ${tree.name}`}, with its settings</li>
          {tree !== undefined && tree.children.length > 0 && (
            <li>
              {count(attached(tree.children), 'worker')}
              {tree.truncated && ' or more'} below it, with their contexts. Detached workers are kept.
            </li>
          )}
        </ul>
      )}
      {remove.isError && (
        <p className={css.refused} role="alert">
          {readError(remove.error).message}
        </p>
      )}
    </Dialog>
  );
}

function attached(nodes: readonly WorkerTreeNode[]): number {
  return nodes.filter(({ detached }) => !detached).reduce((sum, { children }) => sum + 1 + attached(children), 0);
}
