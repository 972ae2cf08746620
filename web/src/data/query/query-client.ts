/** The query cache. It does not retry, because the API client retries requests itself. */
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { NightshiftError } from 'nightshift/client';
import { isUnreached, onReturn, markLost } from '../live/connection.ts';
import { keys } from './keys.ts';

export function makeQueryClient(): QueryClient {
  const hear = (error: unknown): void => {
    if (isUnreached(error)) markLost();
    // The cookie has expired or the key was revoked: the session query then shows the sign-in page.
    if (error instanceof NightshiftError && error.code === 'unauthorized')
      void queryClient.invalidateQueries({ queryKey: keys.session });
  };
  const queryClient = new QueryClient({
    queryCache: new QueryCache({ onError: hear }),
    mutationCache: new MutationCache({ onError: hear }),
    defaultOptions: {
      queries: { retry: false, staleTime: 2_000, networkMode: 'always' },
      mutations: { retry: false, networkMode: 'always' },
    },
  });
  onReturn(() => void queryClient.invalidateQueries());
  return queryClient;
}
