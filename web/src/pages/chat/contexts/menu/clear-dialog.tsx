import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from '../../../../data/client.ts';
import { contextQuery } from '../../../../data/query/contexts.ts';
import { keys } from '../../../../data/query/keys.ts';
import { contextName } from '../../../../data/format.ts';
import { ConfirmDialog } from '../../../../ui/layout/confirm-dialog.tsx';
import { showNotice } from '../../../../ui/layout/toaster.tsx';

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
    <ConfirmDialog
      title={context === undefined ? 'Clear history?' : `Clear history of “${contextName(context)}”?`}
      description="The worker and its settings are kept. It deletes:"
      goes={
        context === undefined
          ? []
          : [
              `${count(context.message_count, 'message')} and all summaries`,
              ...(branches > 1 ? [`${count(branches - 1, 'branch', 'branches')} besides main`] : []),
              'The counters of turns, requests and tokens',
            ]
      }
      submit="Clear history"
      saving={clear}
      onSubmit={() => clear.mutate()}
      onClose={onClose}
    />
  );
}

export function count(number: number, one: string, several = `${one}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? one : several}`;
}
