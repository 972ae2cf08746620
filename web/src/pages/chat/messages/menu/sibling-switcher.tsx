/** Switches between the alternative inputs or answers at one position: ‹ 2/3 ›. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import type { Context } from 'nightshift/client';
import { client } from '../../../../data/client.ts';
import { siblingsQuery } from '../../../../data/query/contexts.ts';
import { keys } from '../../../../data/query/keys.ts';
import { IconButton } from '../../../../ui/forms/button.tsx';
import { showError } from '../../../../ui/layout/toaster.tsx';
import { branchWords } from '../../../../words.ts';
import css from '../../message-menu/message-menu.module.css';

const words = branchWords.versions;

/**
 * For an input, or for any message of an answer. Renders nothing if there is no alternative. Fetches nothing while the
 * context has one branch.
 */
export function SiblingSwitcher({ context, messageId }: { context: Context; messageId: string }) {
  const contextId = context.id;
  const cache = useQueryClient();
  const isBranched = context.branches.length > 1;
  // Creating or deleting a branch invalidates all queries of the context, so the data needs no expiry.
  const { data: siblings } = useQuery({
    ...siblingsQuery(contextId, messageId),
    enabled: isBranched,
    staleTime: Infinity,
  });
  const go = useMutation({
    mutationFn: (branch: string) => client.contexts.branches.switch(contextId, branch),
    onSuccess: () => cache.invalidateQueries({ queryKey: keys.context(contextId) }),
    onError: (error) => showError(branchWords.switchFailed, error),
  });
  if (!isBranched || siblings === undefined || siblings.length < 2) return null;
  const at = siblings.findIndex(({ active }) => active);
  if (at === -1) return null;
  const step = (by: number) => {
    const next = siblings[at + by];
    return { disabled: next === undefined || go.isPending, onClick: () => next && go.mutate(next.branch) };
  };
  return (
    <span className={css.switcher} role="group" aria-label={words.label}>
      <IconButton label={words.previous} size="small" {...step(-1)}>
        <ChevronLeft />
      </IconButton>
      <span className={css.place} aria-live="polite" aria-label={words.place(at + 1, siblings.length)}>
        {at + 1}/{siblings.length}
      </span>
      <IconButton label={words.next} size="small" {...step(1)}>
        <ChevronRight />
      </IconButton>
    </span>
  );
}
