import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { client } from '../../../../data/client.ts';
import { contextQuery } from '../../../../data/query/contexts.ts';
import { keys } from '../../../../data/query/keys.ts';
import { Button } from '../../../../ui/forms/button.tsx';
import { Dialog } from '../../../../ui/layout/dialog.tsx';
import { TextField } from '../../../../ui/forms/field.tsx';
import { readError } from '../../../../ui/state/read-error.ts';
import { commonWords, contextMenuWords } from '../../../../words.ts';

const words = contextMenuWords.rename;

/** Sets the title of a context. An empty title removes it. */
export function RenameDialog({ contextId, onClose }: { contextId: string; onClose: () => void }) {
  const cache = useQueryClient();
  const { data: context } = useQuery(contextQuery(contextId));
  const [written, setWritten] = useState<string | null>(null);
  const title = written ?? context?.title ?? '';
  const rename = useMutation({
    mutationFn: () => client.contexts.update(contextId, { title: title.trim() === '' ? null : title.trim() }),
    onSuccess: (now) => {
      cache.setQueryData(keys.contextRecord(contextId), now);
      void cache.invalidateQueries({ queryKey: keys.contexts });
      onClose();
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    rename.mutate();
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={words.title}
      actions={
        <>
          <Button onClick={onClose}>{commonWords.cancel}</Button>
          <Button variant="primary" busy={rename.isPending} onClick={() => rename.mutate()}>
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
          error={rename.isError ? readError(rename.error).message : null}
          onChange={({ target }) => setWritten(target.value)}
        />
      </form>
    </Dialog>
  );
}
