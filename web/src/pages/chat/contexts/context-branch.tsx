/** A row of the context list, and below it, when it is opened, the contexts of the workers that its worker created. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import type { Context } from 'nightshift/client';
import { contextName } from '../../../data/format.ts';
import { contextsQuery, contextsRefresh } from '../../../data/query/contexts.ts';
import { allOf } from '../../../data/query/pages-of.ts';
import { useRefreshed } from '../../../data/query/use-refreshed.ts';
import { Button } from '../../../ui/forms/button.tsx';
import { Skeleton } from '../../../ui/layout/skeleton.tsx';
import { middleRow } from '../../../ui/state/middle-row.ts';
import { commonWords, contextsWords } from '../../../words.ts';
import { ContextItem } from './context-item.tsx';
import css from './contexts-pane.module.css';

type Props = {
  context: Context;
  openId: string | undefined;
  /** The worker above that of the open context: its row is opened. */
  openParentId: string | null;
  isBelow?: boolean;
};

export function ContextBranch({ context, openId, openParentId, isBelow = false }: Props) {
  // Null: the user has not decided.
  const [chosen, setChosen] = useState<boolean | null>(null);
  const isOpen = context.has_children && (chosen ?? context.worker_id === openParentId);
  return (
    <div className={css.branch}>
      <ContextItem context={context} isOpen={context.id === openId} isBelow={isBelow} />
      {context.has_children && (
        <button
          type="button"
          className={css.fold}
          aria-expanded={isOpen}
          aria-label={contextsWords.item.workersBelow(contextName(context))}
          onClick={() => setChosen(!isOpen)}
        >
          <ChevronRight aria-hidden="true" />
        </button>
      )}
      {isOpen && <Below workerId={context.worker_id} openId={openId} openParentId={openParentId} />}
    </div>
  );
}

function Below({ workerId, ...open }: { workerId: string } & Omit<Props, 'context' | 'isBelow'>) {
  const filter = { parent_worker_id: workerId };
  const below = useInfiniteQuery(contextsQuery(filter));
  useRefreshed(contextsRefresh(filter), middleRow);
  if (below.isPending) return <Skeleton lines={1} height={52} />;
  return (
    <div className={css.below}>
      {allOf(below.data).map((context) => (
        <ContextBranch key={context.id} context={context} {...open} isBelow />
      ))}
      {below.hasNextPage && (
        <Button size="small" variant="quiet" busy={below.isFetchingNextPage} onClick={() => void below.fetchNextPage()}>
          {commonWords.showMore}
        </Button>
      )}
    </div>
  );
}
