/** Runs on the history that the job left, with the options of the job, and opens the new job. */
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { RotateCcw } from 'lucide-react';
import type { Job } from 'nightshift/client';
import { client } from '../../data/client.ts';
import { Button } from '../../ui/forms/button.tsx';
import { showError } from '../../ui/layout/toaster.tsx';
import { jobWords } from '../../words.ts';

const words = jobWords.actions;

export function RetryJob({ job: { id, context_id: contextId, branch } }: { job: Job }) {
  const navigate = useNavigate();
  const retry = useMutation({
    mutationFn: () => client.contexts.retry(contextId, { branch, options_of: id }),
    onSuccess: ({ job_id: jobId }) => navigate({ to: '/jobs/$jobId', params: { jobId } }),
    onError: (error) => showError(words.retryFailed, error),
  });
  return (
    <Button busy={retry.isPending} onClick={() => retry.mutate()}>
      <RotateCcw aria-hidden="true" /> {words.retry}
    </Button>
  );
}
