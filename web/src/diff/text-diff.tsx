/** What differs between two texts, line by line. What compares them is loaded when the first diff is shown. */
import { lazy, Suspense } from 'react';
import { Skeleton } from '../ui/layout/skeleton.tsx';
import type { DiffProps } from './diff-view.tsx';

const DiffView = lazy(async () => ({ default: (await import('./diff-view.tsx')).DiffView }));

export function TextDiff(props: DiffProps) {
  return (
    <Suspense fallback={<Skeleton lines={3} />}>
      <DiffView {...props} />
    </Suspense>
  );
}
