import { useIsLost } from '../data/live/connection.ts';
import { Spinner } from '../ui/state/spinner.tsx';
import { appWords } from '../words.ts';
import css from './shell.module.css';

/** Shown while the API cannot be reached. */
export function ConnectionBanner() {
  const isLost = useIsLost();
  return (
    <div role="status">
      {isLost && (
        <p className={css.banner}>
          <Spinner /> {appWords.connectionLost}
        </p>
      )}
    </div>
  );
}
