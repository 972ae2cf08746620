import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Stats } from 'nightshift/client';
import { StatusBadge } from '../../ui/text/status-badge.tsx';
import { overviewWords } from '../../words.ts';
import css from './overview.module.css';

const words = overviewWords.now;

const exact = new Intl.NumberFormat('en');

/** Current counts of jobs and contexts. */
export function Now({ stats }: { stats: Stats }) {
  const states = Object.entries(stats.by_state).filter(([, count]) => count > 0);
  return (
    <section aria-label={words.title}>
      <dl className={css.tiles}>
        <Tile value={stats.queue_depth} status="queued" />
        <Tile value={stats.running} status="running" />
        <Tile value={stats.waiting} status="waiting" />
        <div className={css.tile}>
          <dt>{words.contexts}</dt>
          <dd className={css.states}>
            {states.length === 0 && <span className={css.none}>{words.noContexts}</span>}
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

function Tile({ value, status }: { value: number; status: 'queued' | 'running' | 'waiting' }): ReactNode {
  const { name, about } = words[status];
  return (
    <div className={css.tile}>
      <dt>{name}</dt>
      <dd>
        <Link to="/jobs" search={{ status }} className={css.value} aria-label={words.tile(name, exact.format(value))}>
          {exact.format(value)}
        </Link>
        <span className={css.about}>{about}</span>
      </dd>
    </div>
  );
}
