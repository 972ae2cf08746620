import { Lock } from 'lucide-react';
import { Empty } from '../layout/empty.tsx';

/** In place of what this session does not allow. */
export function MissingScope({ scope }: { scope: string }) {
  return (
    <Empty icon={<Lock aria-hidden="true" />} title={`This needs the scope ${scope}`}>
      Your sign-in does not have it. Sign out, and sign in{' '}
      {scope === 'operator' ? (
        <>
          with the admin key (<code>NIGHTSHIFT_ADMIN_KEY</code>)
        </>
      ) : (
        <>
          as a user or with an API key that has the scope <code>{scope}</code>
        </>
      )}
      .
    </Empty>
  );
}
