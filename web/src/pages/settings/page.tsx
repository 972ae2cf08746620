/** Settings: roles, webhooks, usage, the configuration of the installation, and this browser. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useScopes } from '../../data/query/session.ts';
import { Page } from '../../ui/layout/page.tsx';
import { Tabs } from '../../ui/layout/tabs.tsx';
import { Browser } from './browser.tsx';
import { LimitsTab } from './limits.tsx';
import { ProvidersTab } from './providers.tsx';
import { Roles } from './roles.tsx';
import { ServersTab } from './servers.tsx';
import { ToolsTab } from './tools.tsx';
import { UsageTab } from './usage.tsx';
import { WebhooksTab } from './webhooks/webhooks.tsx';

/** `scope`: what a session needs for it; null: nothing. */
const TABS = [
  { name: 'roles', label: 'Roles', scope: 'read', content: <Roles /> },
  { name: 'tools', label: 'Tools', scope: 'read', content: <ToolsTab /> },
  { name: 'servers', label: 'MCP servers', scope: 'read', content: <ServersTab /> },
  { name: 'providers', label: 'Providers', scope: 'read', content: <ProvidersTab /> },
  { name: 'webhooks', label: 'Webhooks', scope: 'read', content: <WebhooksTab /> },
  { name: 'usage', label: 'Usage', scope: 'read', content: <UsageTab /> },
  { name: 'limits', label: 'Limits', scope: 'read', content: <LimitsTab /> },
  { name: 'browser', label: 'This browser', scope: null, content: <Browser /> },
] as const;

export function SettingsPage() {
  const { tab } = useSearch({ from: '/settings' });
  const navigate = useNavigate();
  const scopes = useScopes();
  const usable = TABS.filter(({ scope }) => scope === null || scopes.includes(scope));
  const chosen = (usable.find(({ name }) => name === tab) ?? usable[0])?.name ?? 'browser';
  return (
    <Page title="Settings">
      <Tabs
        label="Settings"
        tabs={usable}
        value={chosen}
        onChange={(name) => void navigate({ to: '/settings', search: { tab: name }, replace: true })}
      />
    </Page>
  );
}
