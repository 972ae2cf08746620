/** The newest deliveries of a webhook, and one of them with its body and the response. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Delivery, Webhook } from 'nightshift/client';
import { keys } from '../../../data/query/keys.ts';
import { useMay } from '../../../data/query/session.ts';
import { deliveriesQuery, deliveryQuery, retryDelivery } from '../../../data/webhooks.ts';
import { Button } from '../../../ui/forms/button.tsx';
import { Dialog } from '../../../ui/layout/dialog.tsx';
import { LongList, type Place } from '../../../ui/layout/long-list.tsx';
import { Skeleton } from '../../../ui/layout/skeleton.tsx';
import { showError } from '../../../ui/layout/toaster.tsx';
import { ErrorState } from '../../../ui/state/error-state.tsx';
import { Badge } from '../../../ui/text/badge.tsx';
import { Json } from '../../../ui/text/json.tsx';
import { RelativeTime } from '../../../ui/text/time.tsx';
import listCss from '../../../ui/list.module.css';
import { commonWords, webhooksWords } from '../../../words.ts';
import css from '../settings.module.css';

const words = webhooksWords.deliveries;

const TONES = { pending: 'amber', delivered: 'accent', failed: 'red' } as const;

export function DeliveriesDialog({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  return (
    <Dialog open onClose={onClose} title={words.title} description={webhook.url} wide>
      <Deliveries webhook={webhook} />
    </Dialog>
  );
}

function Deliveries({ webhook: { id } }: { webhook: Webhook }) {
  const deliveries = useQuery(deliveriesQuery(id));
  const [shown, setShown] = useState<string | null>(null);
  if (deliveries.isPending) return <Skeleton lines={4} height={40} />;
  if (deliveries.data === undefined)
    return (
      <ErrorState error={deliveries.error} onRetry={() => void deliveries.refetch()} busy={deliveries.isFetching} />
    );
  if (deliveries.data.data.length === 0) return <p className={css.about}>{words.none}</p>;
  return (
    <LongList
      label={words.title}
      className={listCss.items}
      items={deliveries.data.data}
      itemKey={({ id: deliveryId }) => deliveryId}
    >
      {(delivery, place) => (
        <DeliveryItem
          key={delivery.id}
          place={place}
          delivery={delivery}
          isOpen={delivery.id === shown}
          onToggle={() => setShown(delivery.id === shown ? null : delivery.id)}
        />
      )}
    </LongList>
  );
}

type ItemProps = { place: Place; delivery: Delivery; isOpen: boolean; onToggle: () => void };

function DeliveryItem({ place, delivery, isOpen, onToggle }: ItemProps) {
  const { id, webhook_id, type, seq, status, attempts, created_at, error } = delivery;
  const cache = useQueryClient();
  const mayConfigure = useMay('configure');
  const retry = useMutation({
    mutationFn: retryDelivery,
    onError: (failure) => showError(words.retryFailed, failure),
    onSettled: async () => {
      await cache.invalidateQueries({ queryKey: keys.deliveries(webhook_id) });
    },
  });
  return (
    <li {...place} className={listCss.item} aria-label={`${type} ${seq ?? ''}`.trim()}>
      <div className={listCss.itemHead}>
        <span className={listCss.strong}>{type}</span>
        <Badge tone={TONES[status]}>{words.status[status]}</Badge>
        <span className={css.about}>
          {seq !== null && `${words.sequence(seq)} · `}
          {words.attempts(attempts)} · <RelativeTime at={created_at} />
        </span>
        <span className={listCss.buttons}>
          <Button size="small" onClick={onToggle} aria-expanded={isOpen}>
            {isOpen ? words.hide : words.show}
          </Button>
          {mayConfigure && (
            <Button
              size="small"
              busy={retry.isPending}
              onClick={() => retry.mutate({ id: webhook_id, deliveryId: id })}
            >
              {commonWords.retry}
            </Button>
          )}
        </span>
      </div>
      {error !== null && <p className={css.about}>{error}</p>}
      {isOpen && <Bodies webhookId={webhook_id} id={id} />}
    </li>
  );
}

function Bodies({ webhookId, id }: { webhookId: string; id: string }) {
  const { data, error, refetch, isFetching } = useQuery(deliveryQuery(webhookId, id));
  if (data === undefined)
    return error === null ? (
      <Skeleton lines={2} height={40} />
    ) : (
      <ErrorState error={error} onRetry={() => void refetch()} busy={isFetching} />
    );
  const { body, response_body, response_status } = data;
  return (
    <>
      <Json value={body} label={words.body} />
      {response_status !== null && (
        <p className={css.about}>
          {response_body === null || response_body === ''
            ? words.responseWithoutBody(response_status)
            : words.responseWithBody(response_status)}
        </p>
      )}
      {response_body !== null && response_body !== '' && <Json value={response_body} label={words.response} />}
    </>
  );
}
