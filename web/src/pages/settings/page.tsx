/** Settings: roles, webhooks, usage, the configuration of the installation, and this browser. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { hasOneOf, useScopes } from '../../data/query/session.ts';
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

const INSTALLATION = ['read', 'operator'] as const;

/** `scopes`: a session needs one of them; none: nothing. */
const TABS = [
  { name: 'roles', label: 'Roles', scopes: ['read'], content: <Roles /> },
  { name: 'tools', label: 'Tools', scopes: INSTALLATION, content: <ToolsTab /> },
  { name: 'servers', label: 'MCP servers', scopes: INSTALLATION, content: <ServersTab /> },
  { name: 'providers', label: 'Providers', scopes: INSTALLATION, content: <ProvidersTab /> },
  { name: 'webhooks', label: 'Webhooks', scopes: ['read'], content: <WebhooksTab /> },
  { name: 'usage', label: 'Usage', scopes: ['read'], content: <UsageTab /> },
  { name: 'limits', label: 'Limits', scopes: INSTALLATION, content: <LimitsTab /> },
  { name: 'browser', label: 'This browser', scopes: [], content: <Browser /> },
] as const;

export function SettingsPage() {
  const { tab } = useSearch({ from: '/settings' });
  const navigate = useNavigate();
  const own = useScopes();
  const usable = TABS.filter(({ scopes }) => hasOneOf(own, scopes));
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
