/**
 * Goes to the messages of a day. One request finds the first message of the day, and its address shows it. The calendar
 * is limited to the days of the shown branch.
 */
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Message } from 'nightshift/client';
import { client } from '../../../../data/client.ts';
import { dayOf, startOf } from '../../../../data/days.ts';
import { contextQuery } from '../../../../data/query/contexts.ts';
import { keys } from '../../../../data/query/keys.ts';
import { Button } from '../../../../ui/forms/button.tsx';
import { TextField } from '../../../../ui/forms/field.tsx';
import { FormDialog } from '../../../../ui/layout/form-dialog.tsx';
import { useZone } from '../../../../ui/state/zone.ts';
import { useTimeFormat } from '../../../../ui/text/time-format.ts';
import { timeOf } from '../../messages/rows.ts';
import { contextMenuWords } from '../../../../words.ts';
import css from './context-menu.module.css';

const words = contextMenuWords.jump;

export function JumpDialog({ contextId, onClose }: { contextId: string; onClose: () => void }) {
  const navigate = useNavigate();
  const [zone] = useZone();
  const format = useTimeFormat();
  const [day, setDay] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const { data: context } = useQuery(contextQuery(contextId));
  const branch = context?.active_branch;
  const ends = useQuery({
    queryKey: keys.endsOfBranch(contextId, branch ?? ''),
    queryFn: async ({ signal }) => {
      const read = async (order: 'asc' | 'desc') => {
        // Queued inputs come after the history. Now has no message after it, so the last one before it is the newest.
        const at = order === 'asc' ? new Date(0) : new Date(Date.now() + DAY_MS);
        const query = { ...ofBranch(branch), order, at: at.toISOString(), limit: 1 } as const;
        const { data } = await client.contexts.messages.list(contextId, query, { signal }).page();
        return data.find(({ seq }) => seq !== null) ?? null;
      };
      const [first, last] = await Promise.all([read('asc'), read('desc')]);
      return first === null || last === null ? null : { first, last };
    },
    enabled: branch !== undefined,
    staleTime: 0,
  });
  const show = async (message: string | undefined): Promise<void> => {
    const to = { to: '/contexts/$contextId', params: { contextId }, replace: true } as const;
    // The message may be in the address already, and the reader may have left it.
    await navigate({ ...to, search: {} });
    if (message !== undefined) await navigate({ ...to, search: { message } });
    onClose();
  };
  const go = useMutation({
    mutationFn: async (at: string) => {
      const query = { ...ofBranch(branch), include: ['retracted'], at, limit: 1 } as const;
      const { data } = await client.contexts.messages.list(contextId, { ...query, include: [...query.include] }).page();
      return data.find(({ seq }) => seq !== null) ?? null;
    },
    onSuccess: (found) => (found === null ? setFault(words.none) : show(found.id)),
  });
  const submit = (): void => {
    const at = startOf(day, zone);
    setFault(at === null ? words.noDay : null);
    if (at !== null) go.mutate(at);
  };
  const range = ends.data ?? null;
  const moment = (message: Message): number => Date.parse(timeOf(message));
  return (
    <FormDialog
      title={words.title}
      description={
        range === null ? undefined : words.range(format(moment(range.first), 'day'), format(moment(range.last), 'day'))
      }
      submit={words.submit}
      canSubmit={range !== null}
      saving={go}
      onSubmit={submit}
      onClose={onClose}
    >
      {ends.data === null ? (
        <p>{words.empty}</p>
      ) : (
        <>
          <TextField
            label={words.day}
            type="date"
            value={day}
            error={fault}
            {...(range !== null && {
              min: dayOf(moment(range.first), 0, zone),
              max: dayOf(moment(range.last), 0, zone),
            })}
            onChange={({ target }) => setDay(target.value)}
          />
          {range !== null && (
            <div className={css.ends}>
              <Button onClick={() => void show(range.first.id)}>{words.first}</Button>
              <Button onClick={() => void show(range.last.id)}>{words.newest}</Button>
            </div>
          )}
        </>
      )}
    </FormDialog>
  );
}

const DAY_MS = 86_400_000;

function ofBranch(branch: string | undefined): { branch?: string } {
  return branch === undefined ? {} : { branch };
}
