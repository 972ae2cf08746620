/** Who did something: the credential that proved it, and the end user on whose behalf it says that it acted. */
import type { User } from './user.ts';

/**
 * `operator`: the admin key, or an API without keys. `system`: Nightshift itself, without a request. `id`: of the key
 * (`env:…`: of the environment), or of the token; a session has that of its key, or null. `user`: proved by the token, or
 * by the sign-in of the session. `onBehalfOf`: named by a key, and not proved.
 */
export type Actor = {
  kind: 'key' | 'token' | 'session' | 'operator' | 'system';
  id: string | null;
  user: User | null;
  onBehalfOf: User | null;
};

export const SYSTEM: Actor = { kind: 'system', id: null, user: null, onBehalfOf: null };

/** As events and the API show it. */
export type PublicActor = Omit<Actor, 'onBehalfOf'> & { on_behalf_of: User | null };

export function toPublicActor({ onBehalfOf, ...actor }: Actor): PublicActor {
  return { ...actor, on_behalf_of: onBehalfOf };
}
