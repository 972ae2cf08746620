import { Link } from '@tanstack/react-router';
import { Compass } from 'lucide-react';
import { buttonClass } from '../ui/forms/button.tsx';
import { Empty } from '../ui/layout/empty.tsx';
import { Page } from '../ui/layout/page.tsx';
import { appWords } from '../words.ts';

const words = appWords.notFound;

export function NotFound() {
  return (
    <Page title={words.title}>
      <Empty
        icon={<Compass aria-hidden="true" />}
        title={words.heading}
        action={
          <Link to="/" className={buttonClass({ variant: 'secondary' })}>
            {words.goToChat}
          </Link>
        }
      >
        {words.about}
      </Empty>
    </Page>
  );
}
