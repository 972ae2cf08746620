import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Stats } from 'nightshift/client';
import { StatusBadge } from '../../ui/text/status-badge.tsx';
import css from './overview.module.css';

const exact = new Intl.NumberFormat('en');

/** Current counts of jobs and contexts. */
export function Now({ stats }: { stats: Stats }) {
  const states = Object.entries(stats.by_state).filter(([, count]) => count > 0);
  return (
    <section aria-label="Now">
      <dl className={css.tiles}>
        <Tile name="Queued" value={stats.queue_depth} status="queued" about="jobs not claimed yet" />
        <Tile name="Running" value={stats.running} status="running" about="jobs in a worker process" />
        <Tile
          name="Waiting"
          value={stats.waiting}
          status="waiting"
          about="jobs waiting for people, workers or timers"
        />
        <div className={css.tile}>
          <dt>Contexts</dt>
          <dd className={css.states}>
            {states.length === 0 && <span className={css.none}>No contexts yet</span>}
            {states.map(([state, count]) => (
              <span key={state} className={css.state}>
                <StatusBadge status={state} /> {exact.format(count)}
              </span>
            ))}
          </dd>
        </div>
      </dl>
    </section>
  );
}

function Tile({
  name,
  value,
  status,
  about,
}: {
  name: string;
  value: number;
  status: string;
  about: string;
}): ReactNode {
  return (
    <div className={css.tile}>
      <dt>{name}</dt>
      <dd>
        <Link to="/jobs" search={{ status }} className={css.value} aria-label={`${name}: ${exact.format(value)}`}>
          {exact.format(value)}
        </Link>
        <span className={css.about}>{about}</span>
      </dd>
    </div>
  );
}
