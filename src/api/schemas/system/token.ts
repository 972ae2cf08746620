/** Tokens of end users in the API. */
import { Type, type Static } from 'typebox';
import type { Json } from '../../../core/json.ts';
import {
  LONGEST_TOKEN_S,
  MOST_TOKEN_CONTEXTS,
  TOKEN_METADATA_BYTES,
  TOKEN_SCOPES,
} from '../../../core/access/tokens.ts';
import { MAX_BYTES, integer, oneOf, strict } from '../../../schema/build.ts';
import { Instant, UserName, Uuid, described } from '../common.ts';

export const CreateToken = strict(
  {
    user: described(UserName, 'The end user, by the name that your own service uses.'),
    scopes: Type.Array(oneOf(TOKEN_SCOPES), {
      minItems: 1,
      uniqueItems: true,
      description: 'Only those that the caller has.',
    }),
    context_ids: Type.Optional(
      Type.Array(Uuid, {
        minItems: 1,
        maxItems: MOST_TOKEN_CONTEXTS,
        uniqueItems: true,
        description:
          'The token sees these contexts and makes none. Without it, it sees and makes contexts of the user only.',
      }),
    ),
    metadata: Type.Optional(
      Type.Unsafe<{ [key: string]: Json }>({
        type: 'object',
        [MAX_BYTES]: TOKEN_METADATA_BYTES,
        description:
          'Part of the metadata of every job that the token makes. The user can read it, and cannot change it.',
      }),
    ),
    expires_in_s: integer(1, LONGEST_TOKEN_S, 'Seconds until the token ends.'),
  },
  { $id: 'CreateToken' },
);

export const CreatedToken = strict(
  { token: Type.String({ description: 'The token. It is shown only here.' }), expires_at: Instant },
  { $id: 'CreatedToken' },
);
export type CreatedToken = Static<typeof CreatedToken>;

export const RevokeTokensQuery = strict({ user: UserName });
