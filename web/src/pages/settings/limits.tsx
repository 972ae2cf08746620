import type { SystemLimits } from 'nightshift/client';
import { formatDuration } from '../../ui/text/time.tsx';
import { formatExact } from '../../usage/limit-texts.ts';
import { OfSystem } from './of-system.tsx';
import listCss from '../../ui/list.module.css';
import css from './settings.module.css';

type Shown = { name: keyof SystemLimits; label: string; format?: (value: number) => string };

const SHOWN: readonly Shown[] = [
  { name: 'queued_inputs', label: 'Queued inputs per context' },
  { name: 'max_steps', label: 'Model calls per job' },
  { name: 'tool_result', label: 'Characters per tool result' },
  { name: 'tool_timeout_ms', label: 'Timeout of a tool call', format: formatDuration },
  { name: 'depth', label: 'Depth of a worker tree' },
  { name: 'children', label: 'Children per worker' },
  { name: 'workers', label: 'Active workers per tree' },
  { name: 'tenant_workers', label: 'Active workers per tenant' },
  { name: 'hops', label: 'Hops of a message between workers' },
  { name: 'messages_per_minute', label: 'Messages per minute from one worker to others' },
  { name: 'archived_days', label: 'Retention of archived contexts in days' },
  {
    name: 'import_bytes',
    label: 'Import size',
    format: (bytes) => `${formatExact(bytes / 1024 ** 2)} MB`,
  },
  { name: 'streams', label: 'Open streams per API process' },
];

export function LimitsTab() {
  return (
    <OfSystem>
      {({ limits, version, mode }) => (
        <div className={listCss.stack}>
          <dl className={css.facts}>
            <div>
              <dt>Version</dt>
              <dd>{version}</dd>
            </div>
            <div>
              <dt>Mode</dt>
              <dd>{mode === 'laptop' ? 'API and worker in one process' : 'separate API and worker processes'}</dd>
            </div>
            {SHOWN.map(({ name, label, format = formatExact }) => {
              const value = limits[name];
              return (
                <div key={name}>
                  <dt>{label}</dt>
                  <dd>{value === null ? 'no limit' : format(value)}</dd>
                </div>
              );
            })}
          </dl>
          <p className={css.about}>
            These limits of the installation are set in the config file and in the environment of the processes. The
            limits of a tenant are shown under Usage.
          </p>
        </div>
      )}
    </OfSystem>
  );
}
