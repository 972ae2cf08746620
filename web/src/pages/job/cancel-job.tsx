/** A button that cancels an unfinished job, after a question. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../data/client.ts';
import { shortId } from '../../data/format.ts';
import { keys } from '../../data/query/keys.ts';
import { Button } from '../../ui/forms/button.tsx';
import { ConfirmDialog } from '../../ui/layout/confirm-dialog.tsx';
import { timelineWords } from '../../words.ts';

const { cancel: words } = timelineWords;

export function CancelJob({ jobId }: { jobId: string }) {
  const [isAsking, setAsking] = useState(false);
  const cache = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => client.jobs.cancel(jobId, {}),
    onSuccess: () => {
      setAsking(false);
      return cache.invalidateQueries({ queryKey: keys.job(jobId) });
    },
  });
  return (
    <>
      <Button variant="risky" onClick={() => setAsking(true)}>
        {words.open}
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={words.title(shortId(jobId))}
          description={words.about}
          submit={words.submit}
          keep={words.keep}
          saving={cancel}
          onSubmit={() => cancel.mutate()}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}
