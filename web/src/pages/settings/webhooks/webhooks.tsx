/** List of webhooks. They are created with the API or the command line, which show the secret once. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Webhook as Icon } from 'lucide-react';
import { useState } from 'react';
import type { Webhook } from 'nightshift/client';
import { keys } from '../../../data/query/keys.ts';
import { setWebhookStatus, testWebhook, webhooksQuery } from '../../../data/webhooks.ts';
import { Button } from '../../../ui/forms/button.tsx';
import { Empty } from '../../../ui/layout/empty.tsx';
import { Skeleton } from '../../../ui/layout/skeleton.tsx';
import { showError, showNotice } from '../../../ui/layout/toaster.tsx';
import { ErrorState } from '../../../ui/state/error-state.tsx';
import { Badge } from '../../../ui/text/badge.tsx';
import { RelativeTime } from '../../../ui/text/time.tsx';
import css from '../settings.module.css';
import { DeliveriesDialog } from './deliveries.tsx';

export function WebhooksTab() {
  const webhooks = useQuery(webhooksQuery());
  const [shown, setShown] = useState<Webhook | null>(null);
  return (
    <div className={css.stack}>
      <p className={css.about}>
        A webhook sends events of jobs to a server of yours. Create one with{' '}
        <code>nightshift webhooks add &lt;url&gt; --event job.finished</code>, which prints its secret.
      </p>
      {webhooks.isPending && <Skeleton lines={3} height={56} />}
      {webhooks.isError && webhooks.data === undefined && (
        <ErrorState error={webhooks.error} onRetry={() => void webhooks.refetch()} busy={webhooks.isFetching} />
      )}
      {webhooks.data?.length === 0 && <Empty icon={<Icon aria-hidden="true" />} title="No webhooks yet" />}
      {webhooks.data !== undefined && webhooks.data.length > 0 && (
        <ul className={css.items} aria-label="Webhooks">
          {webhooks.data.map((webhook) => (
            <WebhookItem key={webhook.id} webhook={webhook} onOpen={() => setShown(webhook)} />
          ))}
        </ul>
      )}
      <DeliveriesDialog webhook={shown} onClose={() => setShown(null)} />
    </div>
  );
}

function WebhookItem({ webhook, onOpen }: { webhook: Webhook; onOpen: () => void }) {
  const { id, url, events, status, pending } = webhook;
  const cache = useQueryClient();
  const change = useMutation({
    mutationFn: setWebhookStatus,
    onError: (error) => showError('Could not change the webhook', error),
    onSettled: () => cache.invalidateQueries({ queryKey: keys.webhooks }),
  });
  const test = useMutation({
    mutationFn: testWebhook,
    onSuccess: () => {
      showNotice('A test event is sent');
      onOpen();
    },
    onError: (error) => showError('Could not send a test event', error),
  });
  const other = status === 'active' ? 'disabled' : 'active';
  return (
    <li className={css.item} aria-label={url}>
      <div className={css.itemHead}>
        <span className={css.strong}>{url}</span>
        <StateBadge webhook={webhook} />
        {pending > 0 && <Badge>{pending} pending</Badge>}
        <span className={css.buttons}>
          <Button size="small" onClick={onOpen}>
            Deliveries
          </Button>
          {status === 'active' && (
            <Button size="small" busy={test.isPending} onClick={() => test.mutate(id)}>
              Test
            </Button>
          )}
          <Button
            size="small"
            variant="quiet"
            busy={change.isPending}
            onClick={() => change.mutate({ id, status: other })}
          >
            {status === 'active' ? 'Disable' : 'Enable'}
          </Button>
        </span>
      </div>
      <p className={css.about}>{events.join(', ')}</p>
      <LastResults webhook={webhook} />
    </li>
  );
}

function StateBadge({ webhook: { disabled_reason, failing_since } }: { webhook: Webhook }) {
  if (disabled_reason !== null) return <Badge tone="red">disabled: {disabled_reason}</Badge>;
  return failing_since === null ? <Badge tone="accent">active</Badge> : <Badge tone="amber">failing</Badge>;
}

function LastResults({ webhook: { last_success_at, last_failure_at, last_error } }: { webhook: Webhook }) {
  return (
    <p className={css.about}>
      Last success: {last_success_at === null ? 'never' : <RelativeTime at={last_success_at} />}
      {last_failure_at !== null && (
        <>
          {' · '}Last failure: <RelativeTime at={last_failure_at} /> ({last_error})
        </>
      )}
    </p>
  );
}
