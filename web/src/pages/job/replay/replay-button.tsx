/** Runs the input of an ended job again with another model or prompt, and shows both jobs beside each other. */
import { GitCompareArrows } from 'lucide-react';
import { isFinished, type Job } from 'nightshift/client';
import { useState } from 'react';
import type { Attempt } from '../../../data/jobs/start-replay.ts';
import { Button } from '../../../ui/forms/button.tsx';
import { jobWords } from '../../../words.ts';
import { ReplayDialog } from './replay-dialog.tsx';

const words = jobWords.replay;

/** Whether the job has run with an input. The history of one that was never started may not have its input. */
export function canBeReplayed(job: Job): boolean {
  return job.input !== null && job.started_at !== null && isFinished(job);
}

export function ReplayButton({ job }: { job: Job }) {
  const [isOpen, setOpen] = useState(false);
  // Kept when the dialog is closed: the same replay does not start twice.
  const [unknown, setUnknown] = useState<Attempt | null>(null);
  return (
    <>
      <Button onClick={() => setOpen(true)}>
        <GitCompareArrows aria-hidden="true" /> {words.open}
      </Button>
      {isOpen && <ReplayDialog job={job} unknown={unknown} onUnknown={setUnknown} onClose={() => setOpen(false)} />}
    </>
  );
}
