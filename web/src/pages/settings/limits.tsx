import type { SystemLimits } from 'nightshift/client';
import { formatDuration } from '../../ui/time.tsx';
import { OfSystem } from './of-system.tsx';
import css from './settings.module.css';

const exact = new Intl.NumberFormat('en');

const formatExact = (value: number): string => exact.format(value);

type Shown = { name: keyof SystemLimits; label: string; format?: (value: number) => string };

const SHOWN: readonly Shown[] = [
  { name: 'queued_inputs', label: 'Inputs that wait in one context' },
  { name: 'max_steps', label: 'Model calls of one job' },
  { name: 'tool_result', label: 'Characters of one tool’s result' },
  { name: 'tool_timeout_ms', label: 'Time of one tool call', format: formatDuration },
  { name: 'depth', label: 'Depth of a tree of workers' },
  { name: 'children', label: 'Children of one worker' },
  { name: 'workers', label: 'Workers of one tree at work at once' },
  { name: 'tenant_workers', label: 'Workers of one tenant at work at once' },
  { name: 'hops', label: 'Hops of a message between workers' },
  { name: 'messages_per_minute', label: 'Messages of one worker to others, a minute' },
  { name: 'archived_days', label: 'Days that what is archived is kept' },
  {
    name: 'import_bytes',
    label: 'Size of an import',
    format: (bytes) => `${exact.format(bytes / 1024 ** 2)} MB`,
  },
  { name: 'streams', label: 'Open streams of one API process' },
];

export function LimitsTab() {
  return (
    <OfSystem>
      {({ limits, version, mode }) => (
        <div className={css.stack}>
          <dl className={css.facts}>
            <div>
              <dt>Version</dt>
              <dd>{version}</dd>
            </div>
            <div>
              <dt>Runs as</dt>
              <dd>{mode === 'laptop' ? 'one process that is everything' : 'processes of their own'}</dd>
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
            They are set in the config file and in the environment of the processes.
          </p>
        </div>
      )}
    </OfSystem>
  );
}
