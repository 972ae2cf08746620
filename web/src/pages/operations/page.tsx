/** Operations: what waits and why, and the worker processes. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { hasOneOf, useScopes } from '../../data/query/session.ts';
import { Page } from '../../ui/layout/page.tsx';
import { Tabs } from '../../ui/layout/tabs.tsx';
import { ProcessesTab } from './processes.tsx';
import { QueueTab } from './queue.tsx';
import { operationsWords } from '../../words.ts';

const labels = operationsWords.tabs;

/** `scopes`: a session needs one of them. */
const TABS = [
  { name: 'queue', label: labels.queue, scopes: ['read'], content: <QueueTab /> },
  { name: 'processes', label: labels.processes, scopes: ['operator'], content: <ProcessesTab /> },
] as const;

export function OperationsPage() {
  const { tab } = useSearch({ from: '/operations' });
  const navigate = useNavigate();
  const own = useScopes();
  const usable = TABS.filter(({ scopes }) => hasOneOf(own, scopes));
  const chosen = (usable.find(({ name }) => name === tab) ?? usable[0])?.name ?? 'queue';
  return (
    <Page title={operationsWords.title}>
      <Tabs
        label={operationsWords.title}
        tabs={usable}
        value={chosen}
        onChange={(name) => void navigate({ to: '/operations', search: { tab: name }, replace: true })}
      />
    </Page>
  );
}
