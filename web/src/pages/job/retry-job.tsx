/** Retries the job as the list of jobs does, and opens the new job. If the API refuses, it says why. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { RotateCcw } from 'lucide-react';
import type { Job } from 'nightshift/client';
import { client } from '../../data/client.ts';
import { isRefusedSubmission } from '../../data/jobs/submission.ts';
import { keys } from '../../data/query/keys.ts';
import { isRetriable } from '../../data/retry-jobs.ts';
import { Button } from '../../ui/forms/button.tsx';
import { showError, showFailure } from '../../ui/layout/toaster.tsx';
import { jobWords } from '../../words.ts';

const words = jobWords.actions;

/** Whether the API may retry it: whether its history has gone on is checked by the retry. */
export function canBeRetried(job: Job): boolean {
  return job.kind !== 'compact' && isRetriable(job) && !isRefusedSubmission(job);
}

export function RetryJob({ job: { id } }: { job: Job }) {
  const navigate = useNavigate();
  const cache = useQueryClient();
  const retry = useMutation({
    mutationFn: () => client.jobs.retryAll({ ids: [id] }),
    onSuccess: async ({ data: [retried] }) => {
      const jobId = retried?.retry_job_id ?? null;
      if (jobId === null) return showFailure(words.retryFailed, retried?.error?.message ?? words.retryUnknown);
      void cache.invalidateQueries({ queryKey: keys.jobs });
      await navigate({ to: '/jobs/$jobId', params: { jobId } });
    },
    onError: (error) => showError(words.retryFailed, error),
  });
  return (
    <Button busy={retry.isPending} onClick={() => retry.mutate()}>
      <RotateCcw aria-hidden="true" /> {words.retry}
    </Button>
  );
}
