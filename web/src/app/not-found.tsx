import { Link } from '@tanstack/react-router';
import { Compass } from 'lucide-react';
import { buttonClass } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { Page } from '../ui/page.tsx';

export function NotFound() {
  return (
    <Page title="Page not found">
      <Empty
        icon={<Compass aria-hidden="true" />}
        title="There is nothing at this address"
        action={
          <Link to="/" className={buttonClass({ variant: 'secondary' })}>
            Go to the chats
          </Link>
        }
      >
        It may have been removed, or the address was cut off.
      </Empty>
    </Page>
  );
}
