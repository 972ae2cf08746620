/** Dialog that creates a branch. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { client } from '../../../data/client.ts';
import { contextQuery } from '../../../data/query/contexts.ts';
import { keys } from '../../../data/query/keys.ts';
import { Button } from '../../../ui/forms/button.tsx';
import { Dialog } from '../../../ui/layout/dialog.tsx';
import { TextField } from '../../../ui/forms/field.tsx';
import { readError } from '../../../ui/state/read-error.ts';
import { Checkbox } from '../../../ui/forms/checkbox.tsx';
import { showNotice } from '../../../ui/layout/toaster.tsx';
import { branchWords, commonWords } from '../../../words.ts';

const words = branchWords.create;

/** Without `fromMessageId` the branch shares all completed messages. */
export function CreateBranch({
  contextId,
  fromMessageId,
  onClose,
}: {
  contextId: string;
  fromMessageId?: string;
  onClose: () => void;
}) {
  const [name, setName] = useState('');
  const [activate, setActivate] = useState(true);
  const cache = useQueryClient();
  const { data: context } = useQuery(contextQuery(contextId));
  const create = useMutation({
    mutationFn: () =>
      client.contexts.branches.create(contextId, {
        name: name.trim(),
        activate,
        ...(fromMessageId === undefined ? {} : { from_message_id: fromMessageId }),
      }),
    onSuccess: async (branch) => {
      await cache.invalidateQueries({ queryKey: keys.context(contextId) });
      showNotice(activate ? words.switched(branch.name) : words.done(branch.name));
      onClose();
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (name.trim() !== '') create.mutate();
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={words.title}
      description={fromMessageId === undefined ? words.withAll(context?.active_branch ?? null) : words.withMessagesTo}
      actions={
        <>
          <Button onClick={onClose}>{commonWords.cancel}</Button>
          <Button
            variant="primary"
            busy={create.isPending}
            disabled={name.trim() === ''}
            onClick={() => create.mutate()}
          >
            {words.submit}
          </Button>
        </>
      }
    >
      <form onSubmit={submit}>
        <TextField
          label={commonWords.name}
          value={name}
          placeholder={words.nameExample}
          autoComplete="off"
          hint={words.nameHint}
          error={create.isError ? readError(create.error).message : null}
          onChange={({ target }) => setName(target.value)}
        />
      </form>
      <Checkbox label={words.activate} checked={activate} onChange={setActivate} />
    </Dialog>
  );
}
