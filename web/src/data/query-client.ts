/** What REST told, kept for the pages. The client repeats requests by itself, so that nothing is repeated here. */
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { NightshiftError } from 'nightshift/client';
import { isUnreached, onReturn, markLost } from './connection.ts';
import { keys } from './keys.ts';

export function makeQueryClient(): QueryClient {
  const hear = (error: unknown): void => {
    if (isUnreached(error)) markLost();
    // The cookie has expired, or the key was taken back: the sign-in page is shown.
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
