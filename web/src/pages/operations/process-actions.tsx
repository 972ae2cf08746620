/** Pauses, resumes and drains one worker process. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { WorkerProcess } from 'nightshift/client';
import { client } from '../../data/client.ts';
import { keys } from '../../data/query/keys.ts';
import { Button } from '../../ui/forms/button.tsx';
import { showError, showNotice } from '../../ui/layout/toaster.tsx';
import listCss from '../../ui/list.module.css';
import { actionOn, commonWords, operationsWords } from '../../words.ts';

const words = operationsWords;

/** `isLast`: no other process begins runs. */
type Props = { process: WorkerProcess; isLast: boolean; onDrain: () => void };

export function ProcessActions({ process, isLast, onDrain }: Props) {
  const { id, host, pid, status, requested_status: requested, can_drain: canDrain } = process;
  const cache = useQueryClient();
  const name = words.processes.hostOf(host, pid);
  const to = requested === 'paused' ? 'resume' : 'pause';
  const turn = useMutation({
    mutationFn: () => client.processes[to](id),
    onSuccess: () => showNotice(to === 'pause' && isLast ? words.pause.doneLast(name) : words[to].done(name)),
    onError: (error) => showError(words.turnFailed[to](name), error),
    onSettled: () => cache.invalidateQueries({ queryKey: keys.processes }),
  });
  if (status === 'draining' || requested === 'draining') return null;
  return (
    <span className={listCss.buttons}>
      <Button
        size="small"
        busy={turn.isPending}
        onClick={() => turn.mutate()}
        aria-label={actionOn(commonWords[to], name)}
      >
        {commonWords[to]}
      </Button>
      {canDrain && (
        <Button size="small" variant="risky" onClick={onDrain} aria-label={actionOn(words.processes.drain, name)}>
          {words.processes.drain}
        </Button>
      )}
    </span>
  );
}
