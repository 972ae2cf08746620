/** Shows a key that was just made. */
import { useQueryClient } from '@tanstack/react-query';
import type { CreatedApiKey } from 'nightshift/client';
import { sessionQuery } from '../data/query/session.ts';
import { showSecret } from '../ui/layout/secret-dialog.tsx';

export function useShowKey(): (made: CreatedApiKey) => void {
  const cache = useQueryClient();
  return ({ name, key }) => {
    // As it was before the key was made: the first one ends the time without keys.
    const isFirst = cache.getQueryData(sessionQuery().queryKey)?.auth === 'none';
    const next = isFirst ? ' From now on the API needs a key: sign in with this one.' : '';
    const about = `Anyone who has it can do what its scopes allow.${next}`;
    showSecret({ title: `API key ${name}`, what: 'key', about, secret: key });
  };
}
