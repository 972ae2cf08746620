import type { SystemLimits } from 'nightshift/client';
import { formatDuration } from '../../ui/text/time.tsx';
import { formatExact, formatMegabytes } from '../../usage/limit-texts.ts';
import { settingsWords } from '../../words.ts';
import { OfSystem } from './of-system.tsx';
import listCss from '../../ui/list.module.css';
import css from './settings.module.css';

const words = settingsWords.limits;

/** In their order. */
const FORMATS: Readonly<Record<keyof SystemLimits, (value: number) => string>> = {
  queued_inputs: formatExact,
  max_steps: formatExact,
  tool_result: formatExact,
  tool_timeout_ms: formatDuration,
  depth: formatExact,
  children: formatExact,
  workers: formatExact,
  tenant_workers: formatExact,
  hops: formatExact,
  messages_per_minute: formatExact,
  archived_days: formatExact,
  import_bytes: (bytes) => formatMegabytes(bytes / 1024 ** 2),
  streams: formatExact,
};

const NAMES = Object.keys(FORMATS).filter((name): name is keyof SystemLimits => name in FORMATS);

export function LimitsTab() {
  return (
    <OfSystem>
      {({ limits, version, mode }) => (
        <div className={listCss.stack}>
          <dl className={css.facts}>
            <div>
              <dt>{words.version}</dt>
              <dd>{version}</dd>
            </div>
            <div>
              <dt>{words.mode}</dt>
              <dd>{mode === 'laptop' ? words.oneProcess : words.separate}</dd>
            </div>
            {NAMES.map((name) => {
              const value = limits[name];
              return (
                <div key={name}>
                  <dt>{words.names[name]}</dt>
                  <dd>{value === null ? words.none : FORMATS[name](value)}</dd>
                </div>
              );
            })}
          </dl>
          <p className={css.about}>{words.about}</p>
        </div>
      )}
    </OfSystem>
  );
}
