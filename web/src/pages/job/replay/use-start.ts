/** Starts a replay, and opens the comparison with it. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { NightshiftError, type Job } from 'nightshift/client';
import { client } from '../../../data/client.ts';
import { startReplay, type Attempt } from '../../../data/jobs/start-replay.ts';
import { keys } from '../../../data/query/keys.ts';
import { useSession } from '../../../data/query/session.ts';
import { jobWords } from '../../../words.ts';

type Start = { onUnknown: (attempt: Attempt | null) => void; onStarted: () => void };

export function useStart(job: Job, { onUnknown, onStarted }: Start) {
  const cache = useQueryClient();
  const navigate = useNavigate();
  const user = useSession()?.user ?? null;
  const start = useMutation({
    mutationFn: async (attempt: Attempt) => {
      const started = await startReplay(client, job, attempt, user).catch((refusal: unknown) => {
        onUnknown(null);
        throw refusal;
      });
      if (started.kind === 'started') return started.jobId;
      onUnknown(started.attempt);
      throw started.error;
    },
    onSuccess: (other) => {
      onUnknown(null);
      void cache.invalidateQueries({ queryKey: keys.contexts });
      onStarted();
      return navigate({
        to: '/jobs/$jobId',
        params: { jobId: job.id },
        search: { tab: 'compare', compare: other },
      });
    },
  });
  return { isPending: start.isPending, error: shown(start.error), mutate: start.mutate };
}

/** The API names the message that is missing by its id. */
function shown(error: unknown): unknown {
  const isInput = error instanceof NightshiftError && error.param === 'from_message_id';
  return isInput ? new Error(jobWords.replay.noInput) : error;
}
