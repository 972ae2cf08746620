/** Sign-in state. The console does not store the API key: the session is an HttpOnly cookie. */
import type { Session } from 'nightshift/client';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { offerAccounts } from '../account-choice.ts';
import { client } from '../client.ts';
import { sendPending } from './decisions.ts';
import { keys } from './keys.ts';

export function sessionQuery() {
  return queryOptions({
    queryKey: keys.session,
    queryFn: ({ signal }) => client.session.get({ signal }),
    staleTime: 60_000,
  });
}

/** What this browser is signed in to, and as whom. Undefined: not known yet. */
export function useSession(): Session | undefined {
  return useQuery(sessionQuery()).data;
}

/** Names tenant and user of the session; those of a session that is not known yet are none. */
export function useWhose(): string {
  const session = useSession();
  return JSON.stringify([session?.tenant ?? null, session?.user ?? null]);
}

/** `operator`: what concerns the installation, and no data of a tenant. */
export type Scope = Session['scopes'][number];

/** What a key of a tenant can have. */
export type KeyScope = Exclude<Scope, 'operator'>;

const NONE: readonly Scope[] = [];

/** What this session may do; all, if no key is needed. */
export function useScopes(): readonly Scope[] {
  const { data } = useQuery(sessionQuery());
  return useMemo(() => (data === undefined ? NONE : scopesOf(data)), [data]);
}

/** An API without keys takes each caller for the operator, too. */
function scopesOf({ auth, scopes }: Session): readonly Scope[] {
  return auth === 'none' && scopes.length > 0 ? [...scopes, 'operator'] : scopes;
}

/** Whether a session with the scopes `own` has one of `needed`; none needed: always. */
export function hasOneOf(own: readonly Scope[], needed: readonly Scope[]): boolean {
  return needed.length === 0 || needed.some((scope) => own.includes(scope));
}

export function useMay(scope: Scope): boolean {
  return useScopes().includes(scope);
}

/** Rejects with `unauthorized` if the key is not valid. */
export async function signIn(key: string): Promise<void> {
  await client.session.create(key);
}

/** Null unless the user signed in. Signing out also clears the query cache. */
export function useSignOut(): (() => Promise<void>) | null {
  const queryClient = useQueryClient();
  const { data } = useQuery(sessionQuery());
  if (data?.auth !== 'key') return null;
  return async () => {
    await sendPending();
    await client.session.delete();
    // Otherwise the provider would sign the same person in again.
    if (data.user !== null) offerAccounts();
    queryClient.setQueryData(sessionQuery().queryKey, {
      ...data,
      signed_in: false,
      tenant: null,
      user: null,
      scopes: [],
    });
    queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== keys.session[0] });
  };
}
