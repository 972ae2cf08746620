import { Lock } from 'lucide-react';
import { Empty } from '../layout/empty.tsx';

/** In place of what the key of this session does not allow. */
export function MissingScope({ scope }: { scope: string }) {
  return (
    <Empty icon={<Lock aria-hidden="true" />} title={`This needs the scope ${scope}`}>
      The key that you signed in with does not have it. Sign out, and sign in with{' '}
      {scope === 'operator' ? (
        <>
          the admin key (<code>NIGHTSHIFT_ADMIN_KEY</code>)
        </>
      ) : (
        <>
          an API key that has the scope <code>{scope}</code>
        </>
      )}
      .
    </Empty>
  );
}
