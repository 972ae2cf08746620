/** The tenants of the installation, for the operator: made, limited, suspended and deleted. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Building2, Plus } from 'lucide-react';
import type { Tenant } from 'nightshift/client';
import { useState } from 'react';
import { MakeKey } from '../../api-keys/make-key.tsx';
import { allOf } from '../../data/query/pages-of.ts';
import { sessionQuery } from '../../data/query/session.ts';
import { tenantsQuery } from '../../data/tenants.ts';
import { Button } from '../../ui/forms/button.tsx';
import { Empty } from '../../ui/layout/empty.tsx';
import { LongList } from '../../ui/layout/long-list.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { ErrorState } from '../../ui/state/error-state.tsx';
import listCss from '../../ui/list.module.css';
import { ChangeStatus } from './change-status.tsx';
import { DeleteTenant } from './delete-tenant.tsx';
import { TenantForm } from './tenant-form.tsx';
import { TenantItem, type Action } from './tenant-item.tsx';
import { UsageDialog } from './usage-dialog.tsx';
import { commonWords, tenantsWords } from '../../words.ts';
import { Sentence } from '../../ui/text/sentence.tsx';
import css from './tenants.module.css';

type Open = { action: 'create' } | { action: Action; tenant: Tenant };

export function TenantsPage() {
  const list = useInfiniteQuery(tenantsQuery());
  const rows = allOf(list.data);
  const [open, setOpen] = useState<Open | null>(null);
  // In an API without keys, the first one is made on the page Access, and is of the default tenant.
  const hasAdminKey = useQuery(sessionQuery()).data?.auth === 'key';
  return (
    <Page
      title={tenantsWords.title}
      about={tenantsWords.about}
      actions={
        <Button variant="primary" onClick={() => setOpen({ action: 'create' })}>
          <Plus aria-hidden="true" /> {tenantsWords.new}
        </Button>
      }
    >
      <div className={listCss.stack}>
        {list.isPending && <Skeleton lines={4} height={56} />}
        {list.isError && rows.length === 0 && (
          <ErrorState error={list.error} onRetry={() => void list.refetch()} busy={list.isFetching} />
        )}
        {list.isSuccess && rows.length === 0 && (
          <Empty icon={<Building2 aria-hidden="true" />} title={tenantsWords.empty}>
            <Sentence text={tenantsWords.emptyAbout} gaps={{ variable: <code>NIGHTSHIFT_API_KEYS</code> }} />
          </Empty>
        )}
        {rows.length > 0 && (
          <LongList
            label={tenantsWords.title}
            className={listCss.items}
            items={rows}
            itemKey={({ name }) => name}
            more={list.hasNextPage}
          >
            {(tenant, place) => (
              <TenantItem
                key={tenant.name}
                place={place}
                tenant={tenant}
                hasAdminKey={hasAdminKey}
                onAction={(action) => setOpen({ action, tenant })}
              />
            )}
          </LongList>
        )}
        {list.hasNextPage && (
          <Button className={css.more} busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            {commonWords.showMore}
          </Button>
        )}
      </div>
      <Dialogs open={open} onClose={() => setOpen(null)} />
    </Page>
  );
}

function Dialogs({ open, onClose }: { open: Open | null; onClose: () => void }) {
  switch (open?.action) {
    case undefined:
      return null;
    case 'create':
      return <TenantForm known={null} onClose={onClose} />;
    case 'edit':
      return <TenantForm known={open.tenant} onClose={onClose} />;
    case 'key':
      return <MakeKey tenant={open.tenant.name} onClose={onClose} />;
    case 'usage':
      return <UsageDialog name={open.tenant.name} onClose={onClose} />;
    case 'suspend':
    case 'resume':
      return <ChangeStatus name={open.tenant.name} to={open.action} onClose={onClose} />;
    case 'delete':
      return <DeleteTenant name={open.tenant.name} onClose={onClose} />;
  }
}
