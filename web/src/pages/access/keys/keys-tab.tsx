/** API keys of the tenant: made, rotated and revoked. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { KeyRound, Plus } from 'lucide-react';
import type { ApiKey } from 'nightshift/client';
import { useState } from 'react';
import { MakeKey } from '../../../api-keys/make-key.tsx';
import { apiKeysQuery, apiKeysRefresh } from '../../../data/api-keys.ts';
import { allOf } from '../../../data/query/pages-of.ts';
import { useRefreshed } from '../../../data/query/use-refreshed.ts';
import { Button } from '../../../ui/forms/button.tsx';
import { Card } from '../../../ui/layout/card.tsx';
import { Empty } from '../../../ui/layout/empty.tsx';
import { Skeleton } from '../../../ui/layout/skeleton.tsx';
import { ErrorState } from '../../../ui/state/error-state.tsx';
import { middleRow } from '../../../ui/state/middle-row.ts';
import listCss from '../../../ui/list.module.css';
import css from '../access.module.css';
import { KeyItem } from './key-item.tsx';
import { RevokeKey } from './revoke-key.tsx';
import { RevokeTokens } from './revoke-tokens.tsx';
import { RotateKey } from './rotate-key.tsx';

type Open = { kind: 'make' } | { kind: 'rotate'; key: ApiKey } | { kind: 'revoke'; key: ApiKey } | { kind: 'tokens' };

export function KeysTab() {
  const list = useInfiniteQuery(apiKeysQuery());
  useRefreshed(apiKeysRefresh(), middleRow);
  const rows = allOf(list.data);
  const [open, setOpen] = useState<Open | null>(null);
  return (
    <div className={listCss.stack}>
      <div className={listCss.bar}>
        <p className={css.about}>
          Keys that the API made for this tenant. Those of <code>NIGHTSHIFT_API_KEYS</code> are not listed.
        </p>
        <Button variant="primary" onClick={() => setOpen({ kind: 'make' })}>
          <Plus aria-hidden="true" /> New API key
        </Button>
      </div>
      {list.isPending && <Skeleton lines={3} height={56} />}
      {list.isError && rows.length === 0 && (
        <ErrorState error={list.error} onRetry={() => void list.refetch()} busy={list.isFetching} />
      )}
      {list.isSuccess && rows.length === 0 && (
        <Empty icon={<KeyRound aria-hidden="true" />} title="No API keys yet">
          Make a key for each service and each person, with only the scopes that they need.
        </Empty>
      )}
      {rows.length > 0 && (
        <ul className={listCss.items} aria-label="API keys">
          {rows.map((key) => (
            <KeyItem
              key={key.id}
              apiKey={key}
              onRotate={() => setOpen({ kind: 'rotate', key })}
              onRevoke={() => setOpen({ kind: 'revoke', key })}
            />
          ))}
        </ul>
      )}
      {list.hasNextPage && (
        <Button className={css.more} busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Show more
        </Button>
      )}
      <Card title="Tokens of end users">
        <div className={listCss.bar}>
          <p className={css.about}>
            Your server makes them for browsers. They are not stored, so they cannot be listed, but all tokens of a user
            can be ended.
          </p>
          <Button variant="risky" onClick={() => setOpen({ kind: 'tokens' })}>
            Revoke tokens
          </Button>
        </div>
      </Card>
      <Dialogs open={open} onClose={() => setOpen(null)} />
    </div>
  );
}

type DialogsProps = { open: Open | null; onClose: () => void };

function Dialogs({ open, onClose }: DialogsProps) {
  switch (open?.kind) {
    case undefined:
      return null;
    case 'make':
      return <MakeKey onClose={onClose} />;
    case 'rotate':
      return <RotateKey apiKey={open.key} onClose={onClose} />;
    case 'revoke':
      return <RevokeKey apiKey={open.key} onClose={onClose} />;
    case 'tokens':
      return <RevokeTokens onClose={onClose} />;
  }
}
