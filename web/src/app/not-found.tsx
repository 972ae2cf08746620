import { Link } from '@tanstack/react-router';
import { Compass } from 'lucide-react';
import { buttonClass } from '../ui/forms/button.tsx';
import { Empty } from '../ui/layout/empty.tsx';
import { Page } from '../ui/layout/page.tsx';

export function NotFound() {
  return (
    <Page title="Page not found">
      <Empty
        icon={<Compass aria-hidden="true" />}
        title="This page does not exist"
        action={
          <Link to="/" className={buttonClass({ variant: 'secondary' })}>
            Go to Chat
          </Link>
        }
      >
        It may have been deleted, or the address is incomplete.
      </Empty>
    </Page>
  );
}
