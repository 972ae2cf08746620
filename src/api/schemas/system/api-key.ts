/** API keys in the API. */
import { Type, type Static } from 'typebox';
import { LIMIT_RANGES, type KEY_LIMIT_NAMES } from '../../../core/access/quotas.ts';
import { SCOPES } from '../../../core/access/scopes.ts';
import { integer, nullable, oneOf, plainText, strict } from '../../../schema/build.ts';
import { Instant, Uuid, described, listOf } from '../common.ts';

const Scopes = Type.Array(oneOf(SCOPES), { minItems: 1, uniqueItems: true });

const DAY_S = 86_400;

const limit = (name: (typeof KEY_LIMIT_NAMES)[number], what: string) => {
  const { least, most } = LIMIT_RANGES[name];
  return integer(least, most, what);
};

const Limits = {
  requests_per_s: limit('requests_per_s', 'Requests in a second, refused ones too.'),
  concurrent_requests: limit(
    'concurrent_requests',
    'Requests that one API process serves at once, without event streams.',
  ),
};

export const ApiKey = strict(
  {
    id: Uuid,
    name: Type.String(),
    prefix: Type.String({ description: 'The beginning of the key, which is not secret.' }),
    scopes: Type.Array(oneOf(SCOPES)),
    limits: described(
      strict({
        requests_per_s: nullable(Limits.requests_per_s),
        concurrent_requests: nullable(Limits.concurrent_requests),
      }),
      'Beside those of the tenant. Null: not limited.',
    ),
    created_at: Instant,
    expires_at: nullable(Instant),
    last_used_at: nullable(described(Instant, 'Exact to a minute.')),
    revoked_at: nullable(Instant),
    replaces: nullable(described(Uuid, 'The key whose rotation made this one.')),
  },
  { $id: 'ApiKey' },
);
export type ApiKey = Static<typeof ApiKey>;

export const ApiKeyList = listOf('ApiKeyList', ApiKey);

export const CreatedApiKey = strict(
  { ...ApiKey.properties, key: Type.String({ description: 'The key. It is shown only here.' }) },
  { $id: 'CreatedApiKey' },
);
export type CreatedApiKey = Static<typeof CreatedApiKey>;

export const CreateApiKey = strict(
  {
    name: plainText(100, 1, 'For people.'),
    scopes: described(Scopes, 'Only those that the caller has.'),
    expires_at: Type.Optional(described(Instant, 'In the future. By default the key does not expire.')),
    limits: Type.Optional(
      described(
        strict({
          requests_per_s: Type.Optional(Limits.requests_per_s),
          concurrent_requests: Type.Optional(Limits.concurrent_requests),
        }),
        'Limits of this key, beside those of its tenant. Not for a key with the scope keys.',
      ),
    ),
    tenant: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9_.-]{1,64}$',
        description: 'With the admin key: the tenant. None of its keys may be able to make others yet.',
      }),
    ),
  },
  { $id: 'CreateApiKey' },
);

export const RotateApiKey = strict(
  {
    overlap_s: Type.Optional(
      integer(0, 30 * DAY_S, `How long the old key stays valid, in seconds; ${DAY_S} by default.`),
    ),
  },
  { $id: 'RotateApiKey' },
);

/** `overlap_s` where none is given. */
export const USUAL_OVERLAP_S = DAY_S;
