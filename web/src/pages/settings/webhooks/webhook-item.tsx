/** One webhook: its state, its last results, and its actions. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Webhook } from 'nightshift/client';
import { keys } from '../../../data/query/keys.ts';
import { useMay } from '../../../data/query/session.ts';
import { setWebhookStatus, testWebhook } from '../../../data/webhooks.ts';
import { Button } from '../../../ui/forms/button.tsx';
import { showError, showNotice } from '../../../ui/layout/toaster.tsx';
import { Badge } from '../../../ui/text/badge.tsx';
import { RelativeTime } from '../../../ui/text/time.tsx';
import listCss from '../../../ui/list.module.css';
import css from '../settings.module.css';

type Props = {
  webhook: Webhook;
  onOpen: () => void;
  /** A test event is sent, which may be a while after it was asked for. */
  onTested: () => void;
  onEdit: () => void;
  onRotate: () => void;
  onDelete: () => void;
};

export function WebhookItem({ webhook, onOpen, onTested, onEdit, onRotate, onDelete }: Props) {
  const { id, url, events, filter, status, pending } = webhook;
  const mayConfigure = useMay('configure');
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
      onTested();
    },
    onError: (error) => showError('Could not send a test event', error),
  });
  const other = status === 'active' ? 'disabled' : 'active';
  const turn = status === 'active' ? 'Disable' : 'Enable';
  return (
    <li className={listCss.item} aria-label={url}>
      <div className={listCss.itemHead}>
        <span className={listCss.strong}>{url}</span>
        <StateBadge webhook={webhook} />
        {pending > 0 && <Badge>{pending} pending</Badge>}
        <span className={listCss.buttons}>
          <Button size="small" onClick={onOpen} aria-label={`Deliveries of ${url}`}>
            Deliveries
          </Button>
          {mayConfigure && (
            <>
              {status === 'active' && (
                <Button size="small" busy={test.isPending} onClick={() => test.mutate(id)} aria-label={`Test ${url}`}>
                  Test
                </Button>
              )}
              <Button size="small" onClick={onEdit} aria-label={`Edit ${url}`}>
                Edit
              </Button>
              <Button size="small" variant="quiet" onClick={onRotate} aria-label={`Rotate secret of ${url}`}>
                Rotate secret
              </Button>
              <Button
                size="small"
                variant="quiet"
                busy={change.isPending}
                onClick={() => change.mutate({ id, status: other })}
                aria-label={`${turn} ${url}`}
              >
                {turn}
              </Button>
              <Button size="small" variant="risky" onClick={onDelete} aria-label={`Delete ${url}`}>
                Delete
              </Button>
            </>
          )}
        </span>
      </div>
      <p className={css.about}>
        {events.join(', ')}
        {filter?.role !== undefined && ` · only jobs of ${filter.role}`}
        {filter?.metadata !== undefined && ` · only with metadata ${JSON.stringify(filter.metadata)}`}
      </p>
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
