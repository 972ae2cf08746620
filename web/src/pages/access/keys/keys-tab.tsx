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
import { LongList } from '../../../ui/layout/long-list.tsx';
import { Skeleton } from '../../../ui/layout/skeleton.tsx';
import { ErrorState } from '../../../ui/state/error-state.tsx';
import { middleRow } from '../../../ui/state/middle-row.ts';
import listCss from '../../../ui/list.module.css';
import css from '../access.module.css';
import { KeyItem } from './key-item.tsx';
import { RevokeKey } from './revoke-key.tsx';
import { RevokeTokens } from './revoke-tokens.tsx';
import { RotateKey } from './rotate-key.tsx';
import { accessWords, apiKeysWords, commonWords } from '../../../words.ts';
import { Sentence } from '../../../ui/text/sentence.tsx';

const words = accessWords;

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
          <Sentence text={words.keys.about} gaps={{ variable: <code>NIGHTSHIFT_API_KEYS</code> }} />
        </p>
        <Button variant="primary" onClick={() => setOpen({ kind: 'make' })}>
          <Plus aria-hidden="true" /> {apiKeysWords.new}
        </Button>
      </div>
      {list.isPending && <Skeleton lines={3} height={56} />}
      {list.isError && rows.length === 0 && (
        <ErrorState error={list.error} onRetry={() => void list.refetch()} busy={list.isFetching} />
      )}
      {list.isSuccess && rows.length === 0 && (
        <Empty icon={<KeyRound aria-hidden="true" />} title={words.keys.empty}>
          {words.keys.emptyAbout}
        </Empty>
      )}
      {rows.length > 0 && (
        <LongList
          label={words.tabs.keys}
          className={listCss.items}
          items={rows}
          itemKey={({ id }) => id}
          more={list.hasNextPage}
        >
          {(key, place) => (
            <KeyItem
              key={key.id}
              place={place}
              apiKey={key}
              onRotate={() => setOpen({ kind: 'rotate', key })}
              onRevoke={() => setOpen({ kind: 'revoke', key })}
            />
          )}
        </LongList>
      )}
      {list.hasNextPage && (
        <Button className={css.more} busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {commonWords.showMore}
        </Button>
      )}
      <Card title={words.tokens.title}>
        <div className={listCss.bar}>
          <p className={css.about}>{words.tokens.about}</p>
          <Button variant="risky" onClick={() => setOpen({ kind: 'tokens' })}>
            {words.tokens.open}
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
