/** Webhooks: made, changed, tested and deleted, and what was sent to them. */
import { useQuery } from '@tanstack/react-query';
import { Plus, Webhook as Icon } from 'lucide-react';
import { useState } from 'react';
import type { Webhook } from 'nightshift/client';
import { useMay } from '../../../data/query/session.ts';
import { webhooksQuery } from '../../../data/webhooks.ts';
import { Button } from '../../../ui/forms/button.tsx';
import { Empty } from '../../../ui/layout/empty.tsx';
import { LongList } from '../../../ui/layout/long-list.tsx';
import { Skeleton } from '../../../ui/layout/skeleton.tsx';
import { ErrorState } from '../../../ui/state/error-state.tsx';
import listCss from '../../../ui/list.module.css';
import css from '../settings.module.css';
import { DeleteWebhook } from './delete-webhook.tsx';
import { DeliveriesDialog } from './deliveries.tsx';
import { RotateSecret } from './rotate-secret.tsx';
import { WebhookForm } from './webhook-form.tsx';
import { WebhookItem } from './webhook-item.tsx';
import { settingsWords, webhooksWords } from '../../../words.ts';

type Open = { kind: 'new' } | { kind: 'edit' | 'rotate' | 'delete' | 'deliveries'; webhook: Webhook };

export function WebhooksTab() {
  const webhooks = useQuery(webhooksQuery());
  const mayConfigure = useMay('configure');
  const [open, setOpen] = useState<Open | null>(null);
  return (
    <div className={listCss.stack}>
      <div className={listCss.bar}>
        <p className={css.about}>{webhooksWords.about}</p>
        {mayConfigure && (
          <Button variant="primary" onClick={() => setOpen({ kind: 'new' })}>
            <Plus aria-hidden="true" /> {webhooksWords.new}
          </Button>
        )}
      </div>
      {webhooks.isPending && <Skeleton lines={3} height={56} />}
      {webhooks.isError && webhooks.data === undefined && (
        <ErrorState error={webhooks.error} onRetry={() => void webhooks.refetch()} busy={webhooks.isFetching} />
      )}
      {webhooks.data?.length === 0 && <Empty icon={<Icon aria-hidden="true" />} title={webhooksWords.empty} />}
      {webhooks.data !== undefined && webhooks.data.length > 0 && (
        <LongList
          label={settingsWords.tabs.webhooks}
          className={listCss.items}
          items={webhooks.data}
          itemKey={({ id }) => id}
        >
          {(webhook, place) => (
            <WebhookItem
              key={webhook.id}
              place={place}
              webhook={webhook}
              onOpen={() => setOpen({ kind: 'deliveries', webhook })}
              onTested={() => setOpen((now) => now ?? { kind: 'deliveries', webhook })}
              onEdit={() => setOpen({ kind: 'edit', webhook })}
              onRotate={() => setOpen({ kind: 'rotate', webhook })}
              onDelete={() => setOpen({ kind: 'delete', webhook })}
            />
          )}
        </LongList>
      )}
      <Dialogs open={open} onClose={() => setOpen(null)} />
    </div>
  );
}

type DialogsProps = { open: Open | null; onClose: () => void };

function Dialogs({ open, onClose }: DialogsProps) {
  switch (open?.kind) {
    case undefined:
      return null;
    case 'new':
      return <WebhookForm known={null} onClose={onClose} />;
    case 'edit':
      return <WebhookForm known={open.webhook} onClose={onClose} />;
    case 'rotate':
      return <RotateSecret webhook={open.webhook} onClose={onClose} />;
    case 'delete':
      return <DeleteWebhook webhook={open.webhook} onClose={onClose} />;
    case 'deliveries':
      return <DeliveriesDialog webhook={open.webhook} onClose={onClose} />;
  }
}
