import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from '../../../../data/client.ts';
import { contextQuery } from '../../../../data/query/contexts.ts';
import { keys } from '../../../../data/query/keys.ts';
import { Button } from '../../../../ui/forms/button.tsx';
import { Dialog } from '../../../../ui/layout/dialog.tsx';
import { readError } from '../../../../ui/state/read-error.ts';
import { showNotice } from '../../../../ui/layout/toaster.tsx';
import css from './context-menu.module.css';

/** Asks for confirmation and lists what will be deleted. */
export function ClearDialog({ contextId, onClose }: { contextId: string; onClose: () => void }) {
  const cache = useQueryClient();
  const { data: context } = useQuery(contextQuery(contextId));
  const clear = useMutation({
    mutationFn: () => client.contexts.clear(contextId),
    onSuccess: async () => {
      await cache.invalidateQueries({ queryKey: keys.context(contextId) });
      showNotice('History cleared');
      onClose();
    },
  });
  const branches = context?.branches.length ?? 1;
  return (
    <Dialog
      open
      onClose={onClose}
      title="Clear history?"
      description="The worker and its settings are kept. This cannot be undone. It deletes:"
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="danger" busy={clear.isPending} onClick={() => clear.mutate()}>
            Clear history
          </Button>
        </>
      }
    >
      {context !== undefined && (
        <ul className={css.goes}>
          <li>{count(context.message_count, 'message')} and all summaries</li>
          {branches > 1 && <li>{count(branches - 1, 'branch', 'branches')} besides main</li>}
          <li>The counters of turns, requests and tokens</li>
        </ul>
      )}
      {clear.isError && (
        <p className={css.refused} role="alert">
          {readError(clear.error).message}
        </p>
      )}
    </Dialog>
  );
}

export function count(number: number, one: string, several = `${one}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? one : several}`;
}
