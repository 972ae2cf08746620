/** One API key: what it may do, how long it is valid, and its actions. */
import type { ApiKey } from 'nightshift/client';
import { limitsText } from '../../../api-keys/limits.ts';
import { useScopes } from '../../../data/query/session.ts';
import { Button } from '../../../ui/forms/button.tsx';
import type { Place } from '../../../ui/layout/long-list.tsx';
import { useNow } from '../../../ui/state/clock.ts';
import { Badge } from '../../../ui/text/badge.tsx';
import { RelativeTime } from '../../../ui/text/time.tsx';
import listCss from '../../../ui/list.module.css';
import { accessWords, actionOn } from '../../../words.ts';
import { Sentence } from '../../../ui/text/sentence.tsx';
import css from '../access.module.css';

const words = accessWords.keys;

type Props = { place: Place; apiKey: ApiKey; onRotate: () => void; onRevoke: () => void };

export function KeyItem({ place, apiKey, onRotate, onRevoke }: Props) {
  const { name, prefix, scopes, revoked_at: revokedAt, expires_at: expiresAt } = apiKey;
  const limits = limitsText(apiKey.limits);
  const own = useScopes();
  const hasExpired = useHasPassed(expiresAt);
  const isValid = revokedAt === null && !hasExpired;
  // A key gives no scope that it lacks, not by rotating either.
  const mayRotate = scopes.every((scope) => own.includes(scope));
  return (
    <li {...place} className={listCss.item} aria-label={name}>
      <div className={listCss.itemHead}>
        <span className={listCss.strong}>{name}</span>
        {revokedAt !== null && <Badge tone="red">{words.isRevoked}</Badge>}
        {revokedAt === null && hasExpired && <Badge tone="amber">{words.isExpired}</Badge>}
        {scopes.map((scope) => (
          <Badge key={scope} tone={isValid ? 'accent' : 'neutral'}>
            {scope}
          </Badge>
        ))}
        {isValid && (
          <span className={listCss.buttons}>
            {mayRotate && (
              <Button size="small" onClick={onRotate} aria-label={actionOn(words.rotate, name)}>
                {words.rotate}
              </Button>
            )}
            <Button size="small" variant="risky" onClick={onRevoke} aria-label={actionOn(words.revoke, name)}>
              {words.revoke}
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
      <At text={replaces === null ? words.created : words.createdByRotation} at={created_at} />
      {' · '}
      {lastUsedAt === null ? words.neverUsed : <At text={words.used} at={lastUsedAt} />}
      {' · '}
      {revokedAt !== null && <At text={words.revoked} at={revokedAt} />}
      {revokedAt === null && expiresAt === null && words.neverExpires}
      {revokedAt === null && expiresAt !== null && (
        <At text={hasExpired ? words.expired : words.expires} at={expiresAt} />
      )}
    </p>
  );
}

type Timed = (typeof words)['created' | 'createdByRotation' | 'used' | 'revoked' | 'expired' | 'expires'];

function At({ text, at }: { text: Timed; at: string }) {
  return <Sentence text={text} gaps={{ when: <RelativeTime at={at} /> }} />;
}

function useHasPassed(at: string | null): boolean {
  const now = useNow(at === null ? 10_000 : 1_000);
  return at !== null && Date.parse(at) <= now;
}
