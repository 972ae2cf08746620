/** Who is signed in. The key itself is kept nowhere here: a cookie that no script reads stands for it. */
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from './client.ts';
import { sendHeld } from './decisions.ts';
import { keys } from './keys.ts';

export function sessionQuery() {
  return queryOptions({
    queryKey: keys.session,
    queryFn: ({ signal }) => client.session.get({ signal }),
    staleTime: 60_000,
  });
}

/** Rejects with `unauthorized` where the key is not known. */
export async function signIn(key: string): Promise<void> {
  await client.session.create(key);
}

/** Null where nobody is signed in by a key. What was known with it is forgotten. */
export function useSignOut(): (() => Promise<void>) | null {
  const queryClient = useQueryClient();
  const { data } = useQuery(sessionQuery());
  if (data?.auth !== 'key') return null;
  return async () => {
    await sendHeld();
    await client.session.delete();
    queryClient.setQueryData(sessionQuery().queryKey, { ...data, signed_in: false, tenant: null });
    queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== keys.session[0] });
  };
}
