/** A worker and its descendants, updated live. */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { treeQuery, workerQuery } from '../../data/query/workers.ts';
import { buttonClass } from '../../ui/forms/button.tsx';
import { ErrorState } from '../../ui/state/error-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { formatCost } from '../../ui/text/cost.ts';
import { formatCount } from '../../ui/text/tokens.tsx';
import { findNode, sumOf } from './rows.ts';
import { Tree } from './tree.tsx';
import css from './tree.module.css';
import { WorkerPanel } from './worker-panel.tsx';
import { treeWords } from '../../words.ts';

export function TreePage() {
  const { workerId } = useParams({ from: '/workers/$workerId/tree' });
  return <TreeOf key={workerId} workerId={workerId} />;
}

function TreeOf({ workerId }: { workerId: string }) {
  const tree = useQuery(treeQuery(workerId));
  const worker = useQuery(workerQuery(workerId));
  const [selected, setSelected] = useState(workerId);
  const parent = worker.data?.parent_worker_id ?? null;
  const above = parent !== null && (
    <Link to="/workers/$workerId/tree" params={{ workerId: parent }} className={buttonClass({})}>
      {treeWords.parent}
    </Link>
  );
  if (tree.data === undefined)
    return (
      <Page title={treeWords.title}>
        {tree.isError ? (
          <ErrorState error={tree.error} onRetry={() => void tree.refetch()} />
        ) : (
          <Skeleton lines={5} height={36} />
        )}
      </Page>
    );
  const { workers, atWork, tokens, cost } = sumOf(tree.data);
  const about = [
    treeWords.workers(workers, tree.data.truncated),
    treeWords.active(atWork),
    treeWords.tokens(formatCount(tokens)),
    ...(cost === null ? [] : [formatCost(cost)]),
  ].join(' · ');
  return (
    <Page title={treeWords.titleOf(tree.data.name)} about={about} actions={above || undefined}>
      <div className={css.layout}>
        <Tree top={tree.data} selected={selected} onSelect={setSelected} />
        <WorkerPanel
          workerId={selected}
          jobId={findNode(tree.data, selected)?.job?.id ?? null}
          treeId={workerId}
          onGone={() => setSelected(workerId)}
        />
      </div>
    </Page>
  );
}
