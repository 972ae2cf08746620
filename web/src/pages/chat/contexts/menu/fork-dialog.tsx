import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { client } from '../../../../data/client.ts';
import { contextQuery } from '../../../../data/query/contexts.ts';
import { contextName } from '../../../../data/format.ts';
import { keys } from '../../../../data/query/keys.ts';
import { Button } from '../../../../ui/forms/button.tsx';
import { Dialog } from '../../../../ui/layout/dialog.tsx';
import { TextField } from '../../../../ui/forms/field.tsx';
import { readError } from '../../../../ui/state/read-error.ts';
import { commonWords, contextMenuWords } from '../../../../words.ts';

const words = contextMenuWords.fork;

/** Copies the completed messages into a new context and opens it. */
export function ForkDialog({ contextId, onClose }: { contextId: string; onClose: () => void }) {
  const cache = useQueryClient();
  const navigate = useNavigate();
  const { data: context } = useQuery(contextQuery(contextId));
  const [title, setTitle] = useState('');
  const fork = useMutation({
    mutationFn: () => client.contexts.fork(contextId, title.trim() === '' ? {} : { title: title.trim() }),
    onSuccess: (made) => {
      void cache.invalidateQueries({ queryKey: keys.contexts });
      onClose();
      return navigate({ to: '/contexts/$contextId', params: { contextId: made.id } });
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    fork.mutate();
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={words.title}
      description={words.about(context?.active_branch ?? null)}
      actions={
        <>
          <Button onClick={onClose}>{commonWords.cancel}</Button>
          <Button variant="primary" busy={fork.isPending} onClick={() => fork.mutate()}>
            {words.submit}
          </Button>
        </>
      }
    >
      <form onSubmit={submit}>
        <TextField
          label={words.field}
          value={title}
          maxLength={500}
          autoComplete="off"
          placeholder={context === undefined ? '' : contextName(context)}
          error={fork.isError ? readError(fork.error).message : null}
          onChange={({ target }) => setTitle(target.value)}
        />
      </form>
    </Dialog>
  );
}
