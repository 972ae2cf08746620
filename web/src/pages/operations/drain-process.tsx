/** Asks before a worker process is drained. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { WorkerProcess } from 'nightshift/client';
import { client } from '../../data/client.ts';
import { keys } from '../../data/query/keys.ts';
import { ConfirmDialog } from '../../ui/layout/confirm-dialog.tsx';
import { showNotice } from '../../ui/layout/toaster.tsx';
import { operationsWords } from '../../words.ts';

const words = operationsWords.drain;

/** `isLast`: no other process begins runs. */
type Props = { process: WorkerProcess; isLast: boolean; onClose: () => void };

export function DrainProcess({ process: { id, host, pid, running }, isLast, onClose }: Props) {
  const cache = useQueryClient();
  const name = operationsWords.processes.hostOf(host, pid);
  const drain = useMutation({
    mutationFn: () => client.processes.drain(id),
    onSuccess: () => {
      showNotice(words.done(name));
      onClose();
    },
    onSettled: () => cache.invalidateQueries({ queryKey: keys.processes }),
  });
  return (
    <ConfirmDialog
      title={words.title(name)}
      description={words.about}
      goes={[words.running(running), ...(isLast ? [words.last] : []), words.supervisor]}
      submit={operationsWords.processes.drain}
      saving={drain}
      onSubmit={() => drain.mutate()}
      onClose={onClose}
    />
  );
}
