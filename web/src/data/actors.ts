/** Names for who did something, by the credential that proved it. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Actor } from 'nightshift/client';
import { apiKeysQuery } from './api-keys.ts';
import { actorWords } from '../words.ts';
import { shortId } from './format.ts';
import { NAMED_MS } from './names.ts';
import { allOf } from './query/pages-of.ts';

/** Names of API keys by their id. */
export type KeyNames = ReadonlyMap<string, string>;

/** For the middle of a sentence. */
export function actorName({ kind, id, user, on_behalf_of: behalf }: Actor, names: KeyNames): string {
  const who = nameByKind(kind, { id, user }, names);
  return behalf === null ? who : actorWords.onBehalfOf(who, behalf);
}

function nameByKind(kind: Actor['kind'], { id, user }: Pick<Actor, 'id' | 'user'>, names: KeyNames): string {
  switch (kind) {
    case 'key':
      return actorWords.key(keyText(id, names));
    case 'session':
      return user ?? actorWords.browser(keyText(id, names));
    case 'token':
      return user ?? actorWords.token;
    case 'operator':
      return actorWords.operator;
    case 'system':
      return actorWords.system;
  }
}

/** The name of a key, or the end of its id. */
export function keyText(id: string | null, names: KeyNames): string {
  if (id === null) return actorWords.keys.unknown;
  if (id.startsWith('env:')) return actorWords.keys.ofEnvironment(id.slice('env:'.length));
  return actorWords.keys.stored(names.get(id) ?? shortId(id));
}

/** Of the newest keys. `mayRead`: whether this session may see them; otherwise none are known. */
export function useKeyNames(mayRead: boolean): KeyNames {
  const { data } = useInfiniteQuery({ ...apiKeysQuery(), enabled: mayRead, staleTime: NAMED_MS });
  return useMemo(() => new Map(allOf(data).map(({ id, name }) => [id, name])), [data]);
}
