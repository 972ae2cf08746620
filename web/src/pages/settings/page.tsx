/** Settings: roles, the configuration of the installation, and this browser. A new secret of a webhook is shown once. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Page } from '../../ui/layout/page.tsx';
import { Tabs } from '../../ui/layout/tabs.tsx';
import { Browser } from './browser.tsx';
import { LimitsTab } from './limits.tsx';
import { ProvidersTab } from './providers.tsx';
import { Roles } from './roles.tsx';
import { ServersTab } from './servers.tsx';
import { ToolsTab } from './tools.tsx';
import { WebhooksTab } from './webhooks/webhooks.tsx';

const TABS = [
  { name: 'roles', label: 'Roles', content: <Roles /> },
  { name: 'tools', label: 'Tools', content: <ToolsTab /> },
  { name: 'servers', label: 'MCP servers', content: <ServersTab /> },
  { name: 'providers', label: 'Providers', content: <ProvidersTab /> },
  { name: 'webhooks', label: 'Webhooks', content: <WebhooksTab /> },
  { name: 'limits', label: 'Limits', content: <LimitsTab /> },
  { name: 'browser', label: 'This browser', content: <Browser /> },
] as const;

export function SettingsPage() {
  const { tab } = useSearch({ from: '/settings' });
  const navigate = useNavigate();
  const chosen = TABS.find(({ name }) => name === tab)?.name ?? 'roles';
  return (
    <Page title="Settings">
      <Tabs
        label="Settings"
        tabs={TABS}
        value={chosen}
        onChange={(name) => void navigate({ to: '/settings', search: { tab: name }, replace: true })}
      />
    </Page>
  );
}
