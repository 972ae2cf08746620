/** Access: API keys, and who did what. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Page } from '../../ui/layout/page.tsx';
import { Tabs } from '../../ui/layout/tabs.tsx';
import { AuditTab } from './audit/audit-tab.tsx';
import { KeysTab } from './keys/keys-tab.tsx';

const TABS = [
  { name: 'keys', label: 'API keys', content: <KeysTab /> },
  { name: 'audit', label: 'Audit log', content: <AuditTab /> },
] as const;

export function AccessPage() {
  const { tab } = useSearch({ from: '/access' });
  const navigate = useNavigate();
  const chosen = TABS.find(({ name }) => name === tab)?.name ?? 'keys';
  return (
    <Page title="Access">
      <Tabs
        label="Access"
        tabs={TABS}
        value={chosen}
        onChange={(name) => void navigate({ to: '/access', search: { tab: name }, replace: true })}
      />
    </Page>
  );
}
