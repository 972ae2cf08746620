/** Stands in the place of the list while it has no jobs. */
import { ListChecks } from 'lucide-react';
import { Button } from '../../ui/forms/button.tsx';
import { Empty } from '../../ui/layout/empty.tsx';
import { jobsWords as words } from '../../words.ts';

/** `left`: those that were shown do not match any more. `notYet`: older ones are not searched yet. */
type Why = 'left' | 'notYet' | 'noMatch' | 'none';

const TEXTS: Readonly<Record<Why, { title: string; about: string }>> = {
  left: { title: words.left, about: words.leftAbout },
  notYet: { title: words.noMatchYet, about: words.noMatchYetAbout },
  noMatch: { title: words.noMatch, about: words.noMatchAbout },
  none: { title: words.none, about: words.noneAbout },
};

export function NoJobs({ state, onShowAll }: { state: Why; onShowAll: (() => void) | null }) {
  const { title, about } = TEXTS[state];
  return (
    <Empty
      icon={<ListChecks aria-hidden="true" />}
      title={title}
      action={onShowAll === null ? undefined : <Button onClick={onShowAll}>{words.showAll}</Button>}
    >
      {about}
    </Empty>
  );
}
