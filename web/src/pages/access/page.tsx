/** Access: API keys, and who did what. The operator sees the audit log of the installation only. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMay } from '../../data/query/session.ts';
import { Page } from '../../ui/layout/page.tsx';
import { Tabs } from '../../ui/layout/tabs.tsx';
import { AuditTab } from './audit/audit-tab.tsx';
import { KeysTab } from './keys/keys-tab.tsx';
import { accessWords, placeWords } from '../../words.ts';

const KEYS = { name: 'keys', label: accessWords.tabs.keys, content: <KeysTab /> } as const;
const AUDIT = { name: 'audit', label: accessWords.tabs.audit, content: <AuditTab /> } as const;

export function AccessPage() {
  const { tab } = useSearch({ from: '/access' });
  const navigate = useNavigate();
  const tabs = useMay('keys') ? [KEYS, AUDIT] : [AUDIT];
  const chosen = tabs.find(({ name }) => name === tab)?.name ?? tabs[0]?.name ?? 'audit';
  return (
    <Page title={placeWords.access}>
      <Tabs
        label={placeWords.access}
        tabs={tabs}
        value={chosen}
        onChange={(name) => void navigate({ to: '/access', search: { tab: name }, replace: true })}
      />
    </Page>
  );
}
