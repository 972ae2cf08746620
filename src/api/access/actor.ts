/** Who makes a request. */
import type { Actor } from '../../core/access/actor.ts';
import type { KeyRef } from '../../core/access/api-keys.ts';
import type { User } from '../../core/access/user.ts';
import type { Credential } from './access.ts';
import { actingUser, type Caller } from './reach.ts';

/** The operator, with the admin key or a session of it, or in an API without keys. */
export const OPERATOR: Actor = { kind: 'operator', id: null, user: null, onBehalfOf: null };

export type Requester = Pick<Caller, 'token' | 'user'> & { credential: Credential | null; key: KeyRef | null };

/** `named`: the user that the request names. Throws if the request proves another one. */
export function actorOf({ token, user: proved, credential, key }: Requester, named?: User): Actor {
  const user = actingUser({ token, user: proved }, named);
  if (token !== null) return { kind: 'token', id: token.id, user, onBehalfOf: null };
  if (proved !== null) return userActor(proved);
  if (key === null) return { ...OPERATOR, onBehalfOf: user };
  return { ...toActor(credential?.kind === 'session' ? 'session' : 'key', key), onBehalfOf: user };
}

/** Who acts with a session that began with a sign-in at the OpenID provider. */
export function userActor(user: User): Actor {
  return { kind: 'session', id: null, user, onBehalfOf: null };
}

/** Who acts with a key, or with a session that began with it. */
export function toActor(kind: 'key' | 'session', key: KeyRef): Actor & { id: string } {
  return { kind, id: key.kind === 'env' ? `env:${key.id}` : key.id, user: null, onBehalfOf: null };
}
