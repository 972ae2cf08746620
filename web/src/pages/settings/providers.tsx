import type { ProviderStatus } from 'nightshift/client';
import { Badge, type Tone } from '../../ui/text/badge.tsx';
import { Table } from '../../ui/layout/table.tsx';
import { RelativeTime } from '../../ui/text/time.tsx';
import { LiftThrottle } from './lift-throttle.tsx';
import { OfSystem } from './of-system.tsx';
import { Prices } from './prices.tsx';
import listCss from '../../ui/list.module.css';
import { settingsWords } from '../../words.ts';
import { Sentence } from '../../ui/text/sentence.tsx';
import css from './settings.module.css';

const words = settingsWords.providers;

export function ProvidersTab() {
  return (
    <OfSystem>
      {({ providers, prices, default_model: model }) => (
        <div className={listCss.stack}>
          <p className={css.about}>
            <Sentence text={words.about} gaps={{ model: <code>{model}</code> }} />
          </p>
          <Table
            label={settingsWords.tabs.providers}
            rows={providers}
            rowKey={({ name }) => name}
            columns={[
              { name: 'name', head: words.provider, kind: 'wide', cell: ({ name }) => name },
              { name: 'state', head: words.state, cell: (provider) => <State provider={provider} /> },
              {
                name: 'answered',
                head: words.lastSuccess,
                cell: ({ answered_at }) => <When at={answered_at} />,
              },
              { name: 'failed', head: words.lastFailure, cell: ({ failed_at }) => <When at={failed_at} /> },
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
          <Sentence
            text={words.throttle}
            gaps={{ model, reason: reason.replaceAll('_', ' '), when: <RelativeTime at={until} /> }}
          />{' '}
          <LiftThrottle name={provider.name} id={id} model={model} />
        </div>
      ))}
    </>
  );
}

function stateOf({ configured, answered_at, failed_at, throttled_until }: ProviderStatus): {
  label: string;
  tone: Tone;
} {
  if (!configured) return { label: words.states.noKey, tone: 'neutral' };
  if (throttled_until !== null) return { label: words.states.throttled, tone: 'amber' };
  if (failed_at !== null && (answered_at === null || failed_at > answered_at))
    return { label: words.states.failing, tone: 'red' };
  if (answered_at !== null) return { label: words.states.available, tone: 'green' };
  return { label: words.states.unused, tone: 'neutral' };
}

function When({ at }: { at: string | null }) {
  return at === null ? <>–</> : <RelativeTime at={at} />;
}
