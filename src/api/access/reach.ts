/** For whom requests act, and which contexts they see: a token narrows it. */
import type { TraceParent } from '../../core/tracing/trace-parent.ts';
import { WHOLE_TENANT, type Reach } from '../../core/access/reach.ts';
import type { Allow } from '../../core/access/tenant.ts';
import type { Token } from '../../core/access/tokens.ts';
import type { TenantId } from '../../core/ids.ts';
import type { User } from '../../core/access/user.ts';
import type { Executor } from '../../db/connection/client.ts';
import { isReached, type Named, type Visible } from '../../db/read/reach.ts';
import { refused } from '../response/problem.ts';

/**
 * `token`: of the caller; null: it sees the whole tenant. `user`: proved by the token, or by the sign-in of the session;
 * null: a key names users.
 */
export type Caller = { tenantId: TenantId; token: Token | null; user: User | null };

/** `traceParent`: the place of the request in a trace; null: in none. */
export type TracedCaller = Caller & { traceParent: TraceParent | null };

/** `allow`: what the workers of its tenant may use. */
export type WritingCaller = TracedCaller & { allow: Allow };

export function reachOf({ token }: Pick<Caller, 'token'>): Reach {
  if (token === null) return WHOLE_TENANT;
  const { user, contextIds } = token;
  return contextIds === null ? { kind: 'user', user } : { kind: 'contexts', contextIds };
}

/**
 * On whose behalf a request acts: the user that it proves, else the one that it names; null: there is none. Throws if it
 * names another user than it proves.
 */
export function actingUser({ token, user }: Pick<Caller, 'token' | 'user'>, named: User | undefined): User | null {
  if (user !== null && named !== undefined && named !== user)
    throw refused(
      'forbidden',
      `This ${token === null ? 'session' : 'token'} acts for another user. Leave user out.`,
      'user',
    );
  return user ?? named ?? null;
}

/** What a list shows: what the caller sees, of the user that it names. A session sees those of all users. */
export function visibleTo(caller: Pick<Caller, 'token' | 'user'>, named: User | undefined): Visible {
  if (caller.token !== null) actingUser(caller, named);
  return { reach: reachOf(caller), user: named ?? null };
}

/** Throws if the caller gets no new contexts: its token names those that it has. */
export function requireNewContexts({ token }: Pick<Caller, 'token'>): void {
  if (token !== null && token.contextIds !== null)
    throw refused('forbidden', 'This token gives access to certain contexts, and makes no others.');
}

/** Whether the caller sees what is named. Without a token nothing is asked: statements check the tenant themselves. */
export async function sees(executor: Executor, { tenantId, token }: Caller, named: Named): Promise<boolean> {
  return token === null || isReached(executor, tenantId, reachOf({ token }), named);
}
