/** Settings: roles, webhooks, usage, the configuration of the installation, and this browser. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { hasOneOf, useScopes } from '../../data/query/session.ts';
import { Page } from '../../ui/layout/page.tsx';
import { Tabs } from '../../ui/layout/tabs.tsx';
import { Browser } from './browser.tsx';
import { LimitsTab } from './limits.tsx';
import { ProvidersTab } from './providers.tsx';
import { Roles } from './roles.tsx';
import { ServersTab } from './servers/servers.tsx';
import { ToolsTab } from './tools/tools-tab.tsx';
import { UsageTab } from './usage.tsx';
import { WebhooksTab } from './webhooks/webhooks.tsx';
import { placeWords, settingsWords } from '../../words.ts';

const labels = settingsWords.tabs;

const INSTALLATION = ['read', 'operator'] as const;

/** `scopes`: a session needs one of them; none: nothing. */
const TABS = [
  { name: 'roles', label: labels.roles, scopes: ['read'], content: <Roles /> },
  { name: 'tools', label: labels.tools, scopes: INSTALLATION, content: <ToolsTab /> },
  { name: 'servers', label: labels.servers, scopes: INSTALLATION, content: <ServersTab /> },
  { name: 'providers', label: labels.providers, scopes: INSTALLATION, content: <ProvidersTab /> },
  { name: 'webhooks', label: labels.webhooks, scopes: ['read'], content: <WebhooksTab /> },
  { name: 'usage', label: labels.usage, scopes: ['read'], content: <UsageTab /> },
  { name: 'limits', label: labels.limits, scopes: INSTALLATION, content: <LimitsTab /> },
  { name: 'browser', label: labels.browser, scopes: [], content: <Browser /> },
] as const;

export function SettingsPage() {
  const { tab } = useSearch({ from: '/settings' });
  const navigate = useNavigate();
  const own = useScopes();
  const usable = TABS.filter(({ scopes }) => hasOneOf(own, scopes));
  const chosen = (usable.find(({ name }) => name === tab) ?? usable[0])?.name ?? 'browser';
  return (
    <Page title={placeWords.settings}>
      <Tabs
        label={placeWords.settings}
        tabs={usable}
        value={chosen}
        onChange={(name) => void navigate({ to: '/settings', search: { tab: name }, replace: true })}
      />
    </Page>
  );
}
