/** One webhook: its state, its last results, and its actions. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Webhook } from 'nightshift/client';
import { keys } from '../../../data/query/keys.ts';
import { useMay } from '../../../data/query/session.ts';
import { setWebhookStatus, testWebhook } from '../../../data/webhooks.ts';
import { Button } from '../../../ui/forms/button.tsx';
import type { Place } from '../../../ui/layout/long-list.tsx';
import { showError, showNotice } from '../../../ui/layout/toaster.tsx';
import { Badge } from '../../../ui/text/badge.tsx';
import { RelativeTime } from '../../../ui/text/time.tsx';
import listCss from '../../../ui/list.module.css';
import { actionOn, commonWords, webhooksWords } from '../../../words.ts';
import { Sentence } from '../../../ui/text/sentence.tsx';
import css from '../settings.module.css';

const words = webhooksWords.item;

type Props = {
  place: Place;
  webhook: Webhook;
  onOpen: () => void;
  /** A test event is sent, which may be a while after it was asked for. */
  onTested: () => void;
  onEdit: () => void;
  onRotate: () => void;
  onDelete: () => void;
};

export function WebhookItem({ place, webhook, onOpen, onTested, onEdit, onRotate, onDelete }: Props) {
  const { id, url, events, filter, status, pending } = webhook;
  const mayConfigure = useMay('configure');
  const cache = useQueryClient();
  const change = useMutation({
    mutationFn: setWebhookStatus,
    onError: (error) => showError(words.changeFailed, error),
    onSettled: () => cache.invalidateQueries({ queryKey: keys.webhooks }),
  });
  const test = useMutation({
    mutationFn: testWebhook,
    onSuccess: () => {
      showNotice(words.tested);
      onTested();
    },
    onError: (error) => showError(words.testFailed, error),
  });
  const other = status === 'active' ? 'disabled' : 'active';
  const turn = status === 'active' ? commonWords.disable : words.enable;
  return (
    <li {...place} className={listCss.item} aria-label={url}>
      <div className={listCss.itemHead}>
        <span className={listCss.strong}>{url}</span>
        <StateBadge webhook={webhook} />
        {pending > 0 && <Badge>{words.pending(pending)}</Badge>}
        <span className={listCss.buttons}>
          <Button size="small" onClick={onOpen} aria-label={words.deliveriesOf(url)}>
            {webhooksWords.deliveries.title}
          </Button>
          {mayConfigure && (
            <>
              {status === 'active' && (
                <Button
                  size="small"
                  busy={test.isPending}
                  onClick={() => test.mutate(id)}
                  aria-label={actionOn(words.test, url)}
                >
                  {words.test}
                </Button>
              )}
              <Button size="small" onClick={onEdit} aria-label={actionOn(commonWords.edit, url)}>
                {commonWords.edit}
              </Button>
              <Button size="small" variant="quiet" onClick={onRotate} aria-label={words.rotateOf(url)}>
                {words.rotate}
              </Button>
              <Button
                size="small"
                variant="quiet"
                busy={change.isPending}
                onClick={() => change.mutate({ id, status: other })}
                aria-label={actionOn(turn, url)}
              >
                {turn}
              </Button>
              <Button size="small" variant="risky" onClick={onDelete} aria-label={actionOn(commonWords.delete, url)}>
                {commonWords.delete}
              </Button>
            </>
          )}
        </span>
      </div>
      <p className={css.about}>
        {events.join(', ')}
        {filter?.role !== undefined && ` · ${words.onlyRole(filter.role)}`}
        {filter?.metadata !== undefined && ` · ${words.onlyMetadata(JSON.stringify(filter.metadata))}`}
      </p>
      <LastResults webhook={webhook} />
    </li>
  );
}

function StateBadge({ webhook: { disabled_reason, failing_since } }: { webhook: Webhook }) {
  if (disabled_reason !== null) return <Badge tone="red">{words.disabled[disabled_reason]}</Badge>;
  return failing_since === null ? (
    <Badge tone="accent">{words.active}</Badge>
  ) : (
    <Badge tone="amber">{words.failing}</Badge>
  );
}

function LastResults({ webhook: { last_success_at, last_failure_at, last_error } }: { webhook: Webhook }) {
  return (
    <p className={css.about}>
      {last_success_at === null ? (
        words.noSuccess
      ) : (
        <Sentence text={words.lastSuccess} gaps={{ when: <RelativeTime at={last_success_at} /> }} />
      )}
      {last_failure_at !== null && (
        <>
          {' · '}
          <Sentence
            text={words.lastFailure}
            gaps={{ when: <RelativeTime at={last_failure_at} />, error: last_error }}
          />
        </>
      )}
    </p>
  );
}
