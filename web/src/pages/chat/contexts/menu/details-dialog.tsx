/** Shows the ids, counters and links of a context. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { contextQuery, contextStateQuery } from '../../../../data/query/contexts.ts';
import { workerQuery } from '../../../../data/query/workers.ts';
import { CopyButton } from '../../../../ui/text/copy-button.tsx';
import { Dialog } from '../../../../ui/layout/dialog.tsx';
import { ErrorState } from '../../../../ui/state/error-state.tsx';
import { Skeleton } from '../../../../ui/layout/skeleton.tsx';
import { StatusBadge } from '../../../../ui/text/status-badge.tsx';
import { RelativeTime } from '../../../../ui/text/time.tsx';
import { Tokens } from '../../../../ui/text/tokens.tsx';
import { chatWords, contextMenuWords, placeWords } from '../../../../words.ts';
import css from './context-menu.module.css';

const words = contextMenuWords.details;

export function DetailsDialog({ contextId, onClose }: { contextId: string; onClose: () => void }) {
  const { data: context, isError, error, refetch } = useQuery(contextQuery(contextId));
  const { data: state } = useQuery(contextStateQuery(contextId));
  const workerId = context?.worker_id ?? '';
  const { data: worker } = useQuery({ ...workerQuery(workerId), enabled: workerId !== '' });
  return (
    <Dialog open onClose={onClose} wide title={words.title} description={state?.why}>
      {isError && context === undefined && <ErrorState error={error} onRetry={() => void refetch()} />}
      {context === undefined && !isError && <Skeleton />}
      {context !== undefined && (
        <>
          <dl className={css.facts}>
            <Fact name={words.state}>
              <StatusBadge status={context.state} />
            </Fact>
            <Fact name={words.worker}>
              {worker?.name}
              {worker?.role != null && ` ${words.role(worker.role, worker.role_version)}`}
            </Fact>
            {context.user !== null && <Fact name={words.user}>{context.user}</Fact>}
            <Fact name={words.messages}>{words.onAllBranches(context.message_count.toLocaleString('en'))}</Fact>
            <Fact name={words.turns}>
              {words.onBranch(context.turn_count.toLocaleString('en'), context.active_branch)}
            </Fact>
            <Fact name={words.requests}>{context.request_count.toLocaleString('en')}</Fact>
            <Fact name={words.tokens}>
              <Tokens usage={context.usage} />
            </Fact>
            <Fact name={words.created}>
              <RelativeTime at={context.created_at} />
            </Fact>
            <Fact name={words.lastUsed}>
              <RelativeTime at={context.updated_at} />
            </Fact>
            {context.expires_at !== null && (
              <Fact name={words.archived}>
                <RelativeTime at={context.expires_at} />
              </Fact>
            )}
            <IdFact words={words.ids.context} id={contextId} />
            <IdFact words={words.ids.worker} id={workerId} />
            {state?.job_id != null && <IdFact words={words.ids.job} id={state.job_id} />}
            {context.parent_id !== null && <IdFact words={words.ids.source} id={context.parent_id} />}
          </dl>
          <nav className={css.links} aria-label={words.links.label}>
            <Link to="/workers/$workerId/tree" params={{ workerId }}>
              {chatWords.tree}
            </Link>
            <Link to="/jobs" search={{ context_id: contextId }}>
              {placeWords.jobs}
            </Link>
            {state?.job_id != null && (
              <Link to="/jobs/$jobId" params={{ jobId: state.job_id }}>
                {words.links.currentJob}
              </Link>
            )}
            {context.parent_id !== null && (
              <Link to="/contexts/$contextId" params={{ contextId: context.parent_id }}>
                {words.links.source}
              </Link>
            )}
          </nav>
        </>
      )}
    </Dialog>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function IdFact({ words: { name, copy }, id }: { words: { name: string; copy: string }; id: string }) {
  return (
    <div className={css.id}>
      <dt>{name}</dt>
      <dd>
        <code>{id}</code>
        <CopyButton read={() => id} label={copy} />
      </dd>
    </div>
  );
}
