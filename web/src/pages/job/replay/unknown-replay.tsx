/** Says that a replay may have started, and where. `fork` null: the context of the replay is not known either. */
import { Link } from '@tanstack/react-router';
import { TriangleAlert } from 'lucide-react';
import type { Context } from 'nightshift/client';
import { jobWords } from '../../../words.ts';
import css from './replay.module.css';

const words = jobWords.replay;

export function UnknownReplay({ fork }: { fork: Context | null }) {
  return (
    <p className={css.warning} role="status">
      <TriangleAlert aria-hidden="true" />
      <span>
        {words.unknown}{' '}
        {fork !== null && (
          <Link to="/contexts/$contextId" params={{ contextId: fork.id }}>
            {words.openFork}
          </Link>
        )}
      </span>
    </p>
  );
}
