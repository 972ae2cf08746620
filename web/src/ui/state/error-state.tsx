import { CircleAlert } from 'lucide-react';
import { Button } from '../forms/button.tsx';
import { ErrorText } from './error-text.tsx';
import { readError } from './read-error.ts';
import { commonWords, uiWords } from '../../words.ts';
import css from '../notice.module.css';

/** Error message with its code, request id and a retry button. */
export function ErrorState({
  error,
  title = uiWords.errors.title,
  onRetry,
  busy = false,
}: {
  error: unknown;
  title?: string;
  onRetry?: (() => void) | undefined;
  busy?: boolean;
}) {
  const { code, requestId } = readError(error);
  return (
    <div className={css.notice} role="alert">
      <CircleAlert aria-hidden="true" />
      <h2>{title}</h2>
      <div className={css.text}>
        <ErrorText error={error} />
      </div>
      <p className={css.facts}>
        {code}
        {requestId !== null && ` · ${uiWords.errors.request(requestId)}`}
      </p>
      {onRetry !== undefined && (
        <div className={css.actions}>
          <Button onClick={onRetry} busy={busy}>
            {commonWords.retry}
          </Button>
        </div>
      )}
    </div>
  );
}
