import type { ProviderStatus } from 'nightshift/client';
import { Badge, type Tone } from '../../ui/text/badge.tsx';
import { Table } from '../../ui/layout/table.tsx';
import { RelativeTime } from '../../ui/text/time.tsx';
import { OfSystem } from './of-system.tsx';
import { Prices } from './prices.tsx';
import listCss from '../../ui/list.module.css';
import css from './settings.module.css';

export function ProvidersTab() {
  return (
    <OfSystem>
      {({ providers, prices, default_model: model }) => (
        <div className={listCss.stack}>
          <p className={css.about}>
            Default model: <code>{model}</code>. Provider keys are set in the environment of the processes and are never
            shown.
          </p>
          <Table
            label="Providers"
            rows={providers}
            rowKey={({ name }) => name}
            columns={[
              { name: 'name', head: 'Provider', kind: 'wide', cell: ({ name }) => name },
              { name: 'state', head: 'State', cell: (provider) => <State provider={provider} /> },
              {
                name: 'answered',
                head: 'Last success',
                cell: ({ answered_at }) => <When at={answered_at} />,
              },
              { name: 'failed', head: 'Last failure', cell: ({ failed_at }) => <When at={failed_at} /> },
            ]}
          />
          <Prices prices={prices} />
        </div>
      )}
    </OfSystem>
  );
}

function State({ provider }: { provider: ProviderStatus }) {
  const { label, tone } = stateOf(provider);
  return (
    <>
      <Badge tone={tone} dot="still">
        {label}
      </Badge>
      {(provider.throttles ?? []).map(({ id, model, reason, until }) => (
        <div key={id} className={css.faint}>
          {model}: {reason.replaceAll('_', ' ')}, next call <RelativeTime at={until} />
        </div>
      ))}
    </>
  );
}

function stateOf({ configured, answered_at, failed_at, throttled_until }: ProviderStatus): {
  label: string;
  tone: Tone;
} {
  if (!configured) return { label: 'No key set', tone: 'neutral' };
  if (throttled_until !== null) return { label: 'Throttled', tone: 'amber' };
  if (failed_at !== null && (answered_at === null || failed_at > answered_at)) return { label: 'Failing', tone: 'red' };
  if (answered_at !== null) return { label: 'Available', tone: 'green' };
  return { label: 'Not used yet', tone: 'neutral' };
}

function When({ at }: { at: string | null }) {
  return at === null ? <>–</> : <RelativeTime at={at} />;
}
