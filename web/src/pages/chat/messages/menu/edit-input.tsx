/** Dialog that edits a past input. The API puts the edited input on a new branch and keeps the old one. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ContentBlock, EditMessage, InputBlock, Message } from 'nightshift/client';
import { useState, type KeyboardEvent } from 'react';
import { client } from '../../../../data/client.ts';
import { contextQuery } from '../../../../data/query/contexts.ts';
import { textOf } from '../../../../data/format.ts';
import { keys } from '../../../../data/query/keys.ts';
import { Button } from '../../../../ui/forms/button.tsx';
import { Dialog } from '../../../../ui/layout/dialog.tsx';
import { Field, TextArea } from '../../../../ui/forms/field.tsx';
import { readError } from '../../../../ui/state/read-error.ts';
import { Select, type Option } from '../../../../ui/forms/select.tsx';
import { showNotice } from '../../../../ui/layout/toaster.tsx';
import { commonWords, composerWords, messageMenuWords } from '../../../../words.ts';
import { isBusy } from '../../state.ts';

const words = messageMenuWords.edit;

type Delivery = Exclude<NonNullable<EditMessage['delivery']>, 'reject'>;

const DELIVERIES = (['queue', 'interrupt'] as const).map((value): Option<Delivery> => ({
  value,
  label: composerWords.deliveries[value],
}));

export function EditInput({ message, onClose }: { message: Message; onClose: () => void }) {
  const { id, context_id: contextId } = message;
  const [text, setText] = useState(() => textOf(message));
  const [delivery, setDelivery] = useState<Delivery>('queue');
  const cache = useQueryClient();
  const { data: context } = useQuery(contextQuery(contextId));
  const hasJob = context !== undefined && isBusy(context.state);
  const others = message.content.filter(isKept);
  const edit = useMutation({
    mutationFn: () => {
      const content: EditMessage['content'] =
        others.length === 0 ? text : [...(text.trim() === '' ? [] : [{ type: 'text' as const, text }]), ...others];
      return client.contexts.messages.edit(contextId, id, { content, ...(hasJob ? { delivery } : {}) });
    },
    onSuccess: async ({ branch }) => {
      await cache.invalidateQueries({ queryKey: keys.context(contextId) });
      showNotice(words.done(branch));
      onClose();
    },
  });
  const isEmpty = text.trim() === '' && others.length === 0;
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !isEmpty) edit.mutate();
  };
  return (
    <Dialog
      open
      onClose={onClose}
      wide
      title={words.title}
      description={words.about}
      actions={
        <>
          <Button onClick={onClose}>{commonWords.cancel}</Button>
          <Button variant="primary" busy={edit.isPending} disabled={isEmpty} onClick={() => edit.mutate()}>
            {words.submit}
          </Button>
        </>
      }
    >
      <TextArea
        label={words.input}
        rows={8}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={onKeyDown}
        error={edit.isError ? readError(edit.error).message : null}
        hint={others.length === 0 ? words.hint : words.hintWithFiles(others.length)}
      />
      {hasJob && (
        <Field label={words.delivery}>
          {(tie) => <Select {...tie} value={delivery} options={DELIVERIES} onChange={setDelivery} />}
        </Field>
      )}
    </Dialog>
  );
}

/** Attachments of the original input are kept. */
function isKept(block: ContentBlock): block is Extract<InputBlock, { type: 'image' | 'document' }> {
  return block.type === 'image' || block.type === 'document';
}
