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
import css from './context-menu.module.css';

export function DetailsDialog({ contextId, onClose }: { contextId: string; onClose: () => void }) {
  const { data: context, isError, error, refetch } = useQuery(contextQuery(contextId));
  const { data: state } = useQuery(contextStateQuery(contextId));
  const workerId = context?.worker_id ?? '';
  const { data: worker } = useQuery({ ...workerQuery(workerId), enabled: workerId !== '' });
  return (
    <Dialog open onClose={onClose} wide title="Details" description={state?.why}>
      {isError && context === undefined && <ErrorState error={error} onRetry={() => void refetch()} />}
      {context === undefined && !isError && <Skeleton />}
      {context !== undefined && (
        <>
          <dl className={css.facts}>
            <Fact name="State">
              <StatusBadge status={context.state} />
            </Fact>
            <Fact name="Worker">
              {worker?.name}
              {worker?.role != null &&
                ` (${worker.role}${worker.role_version === null ? '' : ` v${worker.role_version}`})`}
            </Fact>
            {context.user !== null && <Fact name="User">{context.user}</Fact>}
            <Fact name="Messages">{context.message_count.toLocaleString('en')} on all branches</Fact>
            <Fact name="Turns">
              {context.turn_count.toLocaleString('en')} on {context.active_branch}
            </Fact>
            <Fact name="Model requests">{context.request_count.toLocaleString('en')}</Fact>
            <Fact name="Tokens">
              <Tokens usage={context.usage} />
            </Fact>
            <Fact name="Created">
              <RelativeTime at={context.created_at} />
            </Fact>
            <Fact name="Last used">
              <RelativeTime at={context.updated_at} />
            </Fact>
            {context.expires_at !== null && (
              <Fact name="Archived">
                <RelativeTime at={context.expires_at} />
              </Fact>
            )}
            <IdFact name="Context" id={contextId} />
            <IdFact name="Worker" id={workerId} />
            {state?.job_id != null && <IdFact name="Job" id={state.job_id} />}
            {context.parent_id !== null && <IdFact name="Forked from" id={context.parent_id} />}
          </dl>
          <nav className={css.links} aria-label="Context links">
            <Link to="/workers/$workerId/tree" params={{ workerId }}>
              Worker tree
            </Link>
            <Link to="/jobs" search={{ context_id: contextId }}>
              Jobs
            </Link>
            {state?.job_id != null && (
              <Link to="/jobs/$jobId" params={{ jobId: state.job_id }}>
                Timeline of the current job
              </Link>
            )}
            {context.parent_id !== null && (
              <Link to="/contexts/$contextId" params={{ contextId: context.parent_id }}>
                Source of the fork
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

function IdFact({ name, id }: { name: string; id: string }) {
  return (
    <div className={css.id}>
      <dt>{name} id</dt>
      <dd>
        <code>{id}</code>
        <CopyButton read={() => id} label={`Copy the ${name.toLowerCase()} id`} />
      </dd>
    </div>
  );
}
