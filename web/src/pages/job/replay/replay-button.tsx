/** Runs the input of an ended job again with another model or prompt, and shows both jobs beside each other. */
import { useQuery } from '@tanstack/react-query';
import { GitCompareArrows } from 'lucide-react';
import { isFinished, type Job } from 'nightshift/client';
import { useState } from 'react';
import { readSettings } from '../../../data/jobs/replay.ts';
import { keys } from '../../../data/query/keys.ts';
import { Button } from '../../../ui/forms/button.tsx';
import { Dialog } from '../../../ui/layout/dialog.tsx';
import { Skeleton } from '../../../ui/layout/skeleton.tsx';
import { ErrorState } from '../../../ui/state/error-state.tsx';
import { jobWords } from '../../../words.ts';
import { ReplayDialog } from './replay-dialog.tsx';

const words = jobWords.replay;

/** Whether the job has an input that it has answered, or failed to answer. */
export function canBeReplayed(job: Job): boolean {
  return job.input !== null && isFinished(job);
}

export function ReplayButton({ job }: { job: Job }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>
        <GitCompareArrows aria-hidden="true" /> {words.open}
      </Button>
      {isOpen && <Opened job={job} onClose={() => setOpen(false)} />}
    </>
  );
}

function Opened({ job, onClose }: { job: Job; onClose: () => void }) {
  const settings = useQuery({
    queryKey: keys.replay(job.id),
    queryFn: ({ signal }) => readSettings(job, signal),
    gcTime: 0,
  });
  if (settings.data !== undefined) return <ReplayDialog job={job} settings={settings.data} onClose={onClose} />;
  return (
    <Dialog open wide onClose={onClose} title={words.title}>
      {settings.isError ? (
        <ErrorState error={settings.error} onRetry={() => void settings.refetch()} />
      ) : (
        <Skeleton lines={6} />
      )}
    </Dialog>
  );
}
