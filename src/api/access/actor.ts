/** Who makes a request. */
import type { Actor } from '../../core/actor.ts';
import type { KeyRef } from '../../core/api-keys.ts';
import type { User } from '../../core/user.ts';
import type { Credential } from './access.ts';
import { actingUser, type Caller } from './reach.ts';

type Requester = Pick<Caller, 'token'> & { credential: Credential | null; key: KeyRef | null };

/** `named`: the user that the request names. Throws if its token is of another one. */
export function actorOf({ token, credential, key }: Requester, named?: User): Actor {
  const user = actingUser({ token }, named);
  if (token !== null) return { kind: 'token', id: token.id, user, onBehalfOf: null };
  if (key === null) return { kind: 'operator', id: null, user: null, onBehalfOf: user };
  const id = key.kind === 'env' ? `env:${key.id}` : key.id;
  return { kind: credential?.kind === 'session' ? 'session' : 'key', id, user: null, onBehalfOf: user };
}
