/** Stops the current job. The menu offers variants that differ in which messages are kept. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Ban, ChevronDown, Square, Undo2 } from 'lucide-react';
import { useRef } from 'react';
import type { Context, Interrupt } from 'nightshift/client';
import { client } from '../../../data/client.ts';
import { keys } from '../../../data/query/keys.ts';
import { Button, IconButton } from '../../../ui/forms/button.tsx';
import { Menu, MenuItem, MenuLine } from '../../../ui/layout/menu.tsx';
import { showNotice, showError } from '../../../ui/layout/toaster.tsx';
import { stopWords } from '../../../words.ts';
import css from '../state-line.module.css';
import { focusComposer } from './focus.ts';

const words = stopWords;

type StopTarget = NonNullable<Interrupt['mode']> | 'cancel';

type Props = {
  context: Context;
  jobId: string | null;
  /** Whether Escape presses it. */
  byKey: boolean;
};

/** The focus goes to the composer, since the button disappears. */
export function StopButton({ context, jobId, byKey }: Props) {
  const cache = useQueryClient();
  const stop = useMutation({
    mutationFn: async (target: StopTarget) => {
      if (target !== 'cancel') return (await client.contexts.interrupt(context.id, { mode: target })).effects;
      if (jobId !== null) await client.jobs.cancel(jobId);
      return [];
    },
    onMutate: focusComposer,
    onSuccess: (effects) => {
      if (effects.length === 0) return;
      showNotice(words.notUndone(effects.map(({ name }) => name)));
    },
    onError: (error) => showError(words.failed, error),
    onSettled: () => cache.invalidateQueries({ queryKey: keys.context(context.id) }),
  });
  const isStopping = stop.isPending || stop.isSuccess;
  const hasChosen = useRef(false);
  const choose = (target: StopTarget) => (): void => {
    hasChosen.current = true;
    stop.mutate(target);
  };
  return (
    <span className={css.stop}>
      <Button
        size="small"
        busy={isStopping}
        onClick={() => stop.mutate('keep')}
        aria-keyshortcuts={byKey ? 'Escape' : undefined}
        title={byKey ? words.byKey : undefined}
      >
        {isStopping ? (
          words.stopping
        ) : (
          <>
            <Square aria-hidden="true" /> {words.stop}
          </>
        )}
      </Button>
      <Menu
        onClosed={() => {
          const chosen = hasChosen.current;
          hasChosen.current = false;
          if (chosen) focusComposer();
          return chosen;
        }}
        trigger={
          <IconButton label={words.options} size="small" variant="secondary" disabled={isStopping}>
            <ChevronDown />
          </IconButton>
        }
      >
        <MenuItem icon={<Square />} onSelect={choose('keep')}>
          {words.modes.keep}
        </MenuItem>
        <MenuItem icon={<Undo2 />} onSelect={choose('discard')}>
          {words.modes.discard}
        </MenuItem>
        <MenuItem icon={<Undo2 />} onSelect={choose('rollback')}>
          {words.modes.rollback}
        </MenuItem>
        <MenuLine />
        <MenuItem icon={<Ban />} disabled={jobId === null} onSelect={choose('cancel')}>
          {words.cancel}
        </MenuItem>
      </Menu>
    </span>
  );
}
