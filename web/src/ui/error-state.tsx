import { CircleAlert } from 'lucide-react';
import { Button } from './button.tsx';
import { readError } from './read-error.ts';
import css from './notice.module.css';

/** What went wrong, in words and by code, and a way to try again. */
export function ErrorState({
  error,
  title = 'This could not be loaded',
  onRetry,
  busy = false,
}: {
  error: unknown;
  title?: string;
  onRetry?: (() => void) | undefined;
  busy?: boolean;
}) {
  const { message, code, requestId } = readError(error);
  return (
    <div className={css.notice} role="alert">
      <CircleAlert aria-hidden="true" />
      <h2>{title}</h2>
      <p className={css.text}>{message}</p>
      <p className={css.facts}>
        {code}
        {requestId !== null && ` · request ${requestId}`}
      </p>
      {onRetry !== undefined && (
        <div className={css.actions}>
          <Button onClick={onRetry} busy={busy}>
            Try again
          </Button>
        </div>
      )}
    </div>
  );
}
