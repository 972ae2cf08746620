/** View of one context: header, messages, state, queued inputs and composer. */
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { ArrowLeft, Link as LinkIcon, Network } from 'lucide-react';
import { useCallback, useRef, type RefObject } from 'react';
import type { Context, PartialMessage } from 'nightshift/client';
import { useCardKeys } from '../../answers/card-keys.ts';
import { contextQuery, contextStateQuery } from '../../data/query/contexts.ts';
import { contextName } from '../../data/format.ts';
import { jobQuery } from '../../data/query/jobs.ts';
import { useLive } from '../../data/live/live.ts';
import { buttonClass } from '../../ui/forms/button.tsx';
import { clickByKey, usePageKeys } from '../../ui/forms/page-keys.ts';
import { ErrorState } from '../../ui/state/error-state.tsx';
import { useTitle } from '../../ui/layout/page.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { CopyButton } from '../../ui/text/copy-button.tsx';
import { StatusBadge } from '../../ui/text/status-badge.tsx';
import { Tooltip } from '../../ui/layout/tooltip.tsx';
import { chatWords } from '../../words.ts';
import { BranchBar } from './branches/branch-bar.tsx';
import { Composer } from './composer/composer.tsx';
import { focusComposer } from './composer/focus.ts';
import { ContextGauge } from './context-gauge.tsx';
import { ContextMenu } from './contexts/context-menu.tsx';
import css from './conversation.module.css';
import { BeingSent } from './messages/input-bubble.tsx';
import { MessageList } from './messages/message-list.tsx';
import { QueuedInputs } from './composer/queued-inputs.tsx';
import { isBusy } from './state.ts';
import { StateLine } from './state-line.tsx';

export function Conversation({ id }: { id: string }) {
  const context = useQuery(contextQuery(id));
  const live = useLive(id);
  const isHere = useIsHere(context.data);
  const { message: sought } = useSearch({ strict: false });
  const section = useRef<HTMLElement>(null);
  useCardKeys();
  useChatKeys(section);
  if (context.data === undefined)
    return (
      <section className={css.conversation} aria-label={chatWords.conversation}>
        <div className={css.head}>
          <Back />
        </div>
        {context.isError ? (
          <ErrorState error={context.error} onRetry={() => void context.refetch()} busy={context.isFetching} />
        ) : (
          <Skeleton lines={6} height={56} />
        )}
      </section>
    );
  const state = live.state ?? context.data.state;
  return (
    <section ref={section} className={css.conversation} aria-label={chatWords.conversation}>
      <Header context={context.data} state={state} />
      <MessageList
        key={context.data.active_branch}
        context={context.data}
        partial={isHere ? live.partial : NONE}
        sought={sought}
      />
      <div className={css.below}>
        <BeingSent contextId={context.data.id} />
        <StateLine context={context.data} state={state} />
        <QueuedInputs context={context.data} state={state} />
        <Composer context={context.data} state={state} />
      </div>
      {live.connection === 'failed' && <ErrorState title={chatWords.liveStopped} error={live.error} />}
    </section>
  );
}

/** Outside of fields: Escape stops the answer, `c` goes to the composer. */
function useChatKeys(section: RefObject<HTMLElement | null>): void {
  usePageKeys(
    useCallback(
      (event: KeyboardEvent) => {
        if (event.key === 'Escape') return section.current !== null && clickByKey(event, section.current);
        if (event.key !== 'c') return false;
        focusComposer();
        return true;
      },
      [section],
    ),
  );
}

const NONE: readonly PartialMessage[] = [];

/** Whether the current job runs on the shown branch; otherwise its partial messages are not shown. */
function useIsHere(context: Context | undefined): boolean {
  const isForked = context !== undefined && context.branches.length > 1;
  const { data: state } = useQuery({ ...contextStateQuery(context?.id ?? ''), enabled: isForked });
  const jobId = state?.job_id ?? null;
  const { data: job } = useQuery({ ...jobQuery(jobId ?? ''), enabled: isForked && jobId !== null });
  return !isForked || job === undefined || job.branch === context.active_branch;
}

function Header({ context, state }: { context: Context; state: string }) {
  const name = contextName(context);
  useTitle(name);
  return (
    <header className={css.head}>
      <Back />
      <div className={css.name}>
        <h1 title={name}>{name}</h1>
        <p className={css.about}>{[context.user, context.role, context.config.model].filter(Boolean).join(' · ')}</p>
      </div>
      <span className={css.state} data-busy={isBusy(state)}>
        <StatusBadge status={state} />
      </span>
      <ContextGauge context={context} />
      <div className={css.actions}>
        <BranchBar context={context} />
        <Tooltip text={chatWords.tree}>
          <Link
            to="/workers/$workerId/tree"
            params={{ workerId: context.worker_id }}
            className={`${buttonClass({ variant: 'quiet' }, true)} ${css.tree ?? ''}`}
            aria-label={chatWords.tree}
          >
            <Network />
          </Link>
        </Tooltip>
        <CopyButton
          read={() => `${globalThis.location.origin}/contexts/${context.id}`}
          label={chatWords.copyLink}
          icon={<LinkIcon />}
          size="medium"
        />
        <ContextMenu context={context} />
      </div>
    </header>
  );
}

/** Link back to the context list, which is a separate screen on phones. */
function Back() {
  return (
    <Link
      to="/"
      className={`${buttonClass({ variant: 'quiet' }, true)} ${css.back ?? ''}`}
      aria-label={chatWords.allContexts}
    >
      <ArrowLeft />
    </Link>
  );
}
