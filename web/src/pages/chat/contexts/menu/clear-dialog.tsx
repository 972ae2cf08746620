import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from '../../../../data/client.ts';
import { contextQuery } from '../../../../data/query/contexts.ts';
import { keys } from '../../../../data/query/keys.ts';
import { contextName } from '../../../../data/format.ts';
import { ConfirmDialog } from '../../../../ui/layout/confirm-dialog.tsx';
import { showNotice } from '../../../../ui/layout/toaster.tsx';
import { contextMenuWords } from '../../../../words.ts';

const words = contextMenuWords.clear;

/** Asks for confirmation and lists what will be deleted. */
export function ClearDialog({ contextId, onClose }: { contextId: string; onClose: () => void }) {
  const cache = useQueryClient();
  const { data: context } = useQuery(contextQuery(contextId));
  const clear = useMutation({
    mutationFn: () => client.contexts.clear(contextId),
    onSuccess: async () => {
      await cache.invalidateQueries({ queryKey: keys.context(contextId) });
      showNotice(words.done);
      onClose();
    },
  });
  const branches = context?.branches.length ?? 1;
  return (
    <ConfirmDialog
      title={context === undefined ? words.title : words.titleOf(contextName(context))}
      description={words.about}
      goes={
        context === undefined
          ? []
          : [
              words.messages(context.message_count),
              ...(branches > 1 ? [words.branches(branches - 1)] : []),
              words.counters,
            ]
      }
      submit={words.submit}
      saving={clear}
      onSubmit={() => clear.mutate()}
      onClose={onClose}
    />
  );
}
