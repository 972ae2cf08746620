/** Shows a key that was just made. */
import { useQueryClient } from '@tanstack/react-query';
import type { CreatedApiKey } from 'nightshift/client';
import { sessionQuery } from '../data/query/session.ts';
import { showSecret } from '../ui/layout/secret-dialog.tsx';
import { apiKeysWords } from '../words.ts';

export function useShowKey(): (made: CreatedApiKey) => void {
  const cache = useQueryClient();
  return ({ name, key }) => {
    // As it was before the key was made: the first one ends the time without keys.
    const isFirst = cache.getQueryData(sessionQuery().queryKey)?.auth === 'none';
    const { title, about, firstAbout } = apiKeysWords.created;
    showSecret({ title: title(name), what: 'key', about: isFirst ? firstAbout : about, secret: key });
  };
}
