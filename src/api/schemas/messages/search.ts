/** Search in the API. */
import { Type, type Static } from 'typebox';
import { Instant, Page, TurnName, UserName, Uuid, listOf } from '../common.ts';
import { oneOf, plainText, strict } from '../../../schema/build.ts';
import { RoleName } from '../../../schema/config.ts';

export const SearchQuery = strict({
  q: Type.Optional(
    plainText(1_000, 1, 'Words that must all occur; "a phrase"; or; -not. English words match in all their forms.'),
  ),
  context_id: Type.Optional(Uuid),
  worker_id: Type.Optional(Uuid),
  user: Type.Optional(UserName),
  role: Type.Optional(RoleName),
  message_role: Type.Optional(oneOf(['user', 'assistant'])),
  created_after: Type.Optional(Instant),
  created_before: Type.Optional(Instant),
  ...Page,
});

export const SearchResult = strict(
  {
    context_id: Uuid,
    message_id: Uuid,
    turn: TurnName,
    role: oneOf(['user', 'assistant']),
    snippet: Type.String({
      description: 'Plain text around the match, with matches between `**`. Not escaped for HTML.',
    }),
    rank: Type.Number({ description: 'Higher is better. Comparable within one search only.' }),
    created_at: Instant,
  },
  { $id: 'SearchResult' },
);
export type SearchResult = Static<typeof SearchResult>;

export const SearchResultList = listOf('SearchResultList', SearchResult);
