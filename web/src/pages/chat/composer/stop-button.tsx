/** Stops the current job. The menu offers variants that differ in which messages are kept. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Ban, ChevronDown, Square, Undo2 } from 'lucide-react';
import type { Context, Interrupt } from 'nightshift/client';
import { client } from '../../../data/client.ts';
import { keys } from '../../../data/query/keys.ts';
import { Button, IconButton } from '../../../ui/forms/button.tsx';
import { Menu, MenuItem, MenuLine } from '../../../ui/layout/menu.tsx';
import { showNotice, showError } from '../../../ui/layout/toaster.tsx';
import css from '../state-line.module.css';

type StopTarget = NonNullable<Interrupt['mode']> | 'cancel';

export function StopButton({ context, jobId }: { context: Context; jobId: string | null }) {
  const cache = useQueryClient();
  const stop = useMutation({
    mutationFn: async (target: StopTarget) => {
      if (target !== 'cancel') return (await client.contexts.interrupt(context.id, { mode: target })).effects;
      if (jobId !== null) await client.jobs.cancel(jobId);
      return [];
    },
    onSuccess: (effects) => {
      if (effects.length === 0) return;
      showNotice(`Started before the stop and not undone: ${effects.map(({ name }) => name).join(', ')}`);
    },
    onError: (error) => showError('Could not stop the job', error),
    onSettled: () => cache.invalidateQueries({ queryKey: keys.context(context.id) }),
  });
  const isStopping = stop.isPending || stop.isSuccess;
  return (
    <span className={css.stop}>
      <Button size="small" busy={isStopping} onClick={() => stop.mutate('keep')}>
        {isStopping ? (
          'Stopping …'
        ) : (
          <>
            <Square aria-hidden="true" /> Stop
          </>
        )}
      </Button>
      <Menu
        trigger={
          <IconButton label="Stop options" size="small" variant="secondary" disabled={isStopping}>
            <ChevronDown />
          </IconButton>
        }
      >
        <MenuItem icon={<Square />} onSelect={() => stop.mutate('keep')}>
          Stop and keep completed messages
        </MenuItem>
        <MenuItem icon={<Undo2 />} onSelect={() => stop.mutate('discard')}>
          Stop and discard the answer
        </MenuItem>
        <MenuItem icon={<Undo2 />} onSelect={() => stop.mutate('rollback')}>
          Stop and discard answer and input
        </MenuItem>
        <MenuLine />
        <MenuItem icon={<Ban />} danger disabled={jobId === null} onSelect={() => stop.mutate('cancel')}>
          Cancel job
        </MenuItem>
      </Menu>
    </span>
  );
}
