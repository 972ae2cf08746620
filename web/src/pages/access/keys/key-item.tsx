/** One API key: what it may do, how long it is valid, and its actions. */
import type { ApiKey } from 'nightshift/client';
import { limitsText } from '../../../api-keys/limits.ts';
import { useScopes } from '../../../data/query/session.ts';
import { Button } from '../../../ui/forms/button.tsx';
import { useNow } from '../../../ui/state/clock.ts';
import { Badge } from '../../../ui/text/badge.tsx';
import { RelativeTime } from '../../../ui/text/time.tsx';
import listCss from '../../../ui/list.module.css';
import css from '../access.module.css';

type Props = { apiKey: ApiKey; onRotate: () => void; onRevoke: () => void };

export function KeyItem({ apiKey, onRotate, onRevoke }: Props) {
  const { id, name, prefix, scopes, revoked_at: revokedAt, expires_at: expiresAt } = apiKey;
  const limits = limitsText(apiKey.limits);
  const own = useScopes();
  const hasExpired = useHasPassed(expiresAt);
  const isValid = revokedAt === null && !hasExpired;
  // A key gives no scope that it lacks, not by rotating either.
  const mayRotate = scopes.every((scope) => own.includes(scope));
  return (
    <li className={listCss.item} aria-label={name} data-row={id}>
      <div className={listCss.itemHead}>
        <span className={listCss.strong}>{name}</span>
        {revokedAt !== null && <Badge tone="red">Revoked</Badge>}
        {revokedAt === null && hasExpired && <Badge tone="amber">Expired</Badge>}
        {scopes.map((scope) => (
          <Badge key={scope} tone={isValid ? 'accent' : 'neutral'}>
            {scope}
          </Badge>
        ))}
        {isValid && (
          <span className={listCss.buttons}>
            {mayRotate && (
              <Button size="small" onClick={onRotate} aria-label={`Rotate ${name}`}>
                Rotate
              </Button>
            )}
            <Button size="small" variant="risky" onClick={onRevoke} aria-label={`Revoke ${name}`}>
              Revoke
            </Button>
          </span>
        )}
      </div>
      <code className={css.prefix}>{prefix}…</code>
      {limits !== null && <p className={css.about}>{limits}</p>}
      <Times apiKey={apiKey} hasExpired={hasExpired} />
    </li>
  );
}

function Times({ apiKey, hasExpired }: { apiKey: ApiKey; hasExpired: boolean }) {
  const { created_at, expires_at: expiresAt, last_used_at: lastUsedAt, revoked_at: revokedAt, replaces } = apiKey;
  return (
    <p className={css.about}>
      Created <RelativeTime at={created_at} />
      {replaces !== null && ' by a rotation'} · Last used{' '}
      {lastUsedAt === null ? 'never' : <RelativeTime at={lastUsedAt} />} ·{' '}
      {revokedAt !== null && (
        <>
          Revoked <RelativeTime at={revokedAt} />
        </>
      )}
      {revokedAt === null && expiresAt === null && 'Does not expire'}
      {revokedAt === null && expiresAt !== null && (
        <>
          {hasExpired ? 'Expired' : 'Expires'} <RelativeTime at={expiresAt} />
        </>
      )}
    </p>
  );
}

function useHasPassed(at: string | null): boolean {
  const now = useNow(at === null ? 10_000 : 1_000);
  return at !== null && Date.parse(at) <= now;
}
