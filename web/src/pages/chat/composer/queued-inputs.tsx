/** Lists the queued inputs, which can be edited, moved or withdrawn. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ChevronDown, ChevronUp, Clock, Pencil, X } from 'lucide-react';
import { useState, type FormEvent, type KeyboardEvent } from 'react';
import type { Context, Message, PatchMessage } from 'nightshift/client';
import { client } from '../../../data/client.ts';
import { textOf } from '../../../data/format.ts';
import { keys } from '../../../data/query/keys.ts';
import { queueQuery } from '../../../data/query/messages.ts';
import { useTakenOver } from '../../../data/query/use-sending.ts';
import { Button, IconButton } from '../../../ui/forms/button.tsx';
import { TextArea } from '../../../ui/forms/field.tsx';
import { showError } from '../../../ui/layout/toaster.tsx';
import { commonWords, queuedWords } from '../../../words.ts';
import css from './queued-inputs.module.css';
import { isBusy } from '../state.ts';

const words = queuedWords;

const NONE: readonly Message[] = [];

export function QueuedInputs({ context, state }: { context: Context; state: string }) {
  const { data: queued = NONE } = useQuery(queueQuery(context.id, context.active_branch, isBusy(state)));
  useTakenOver(context.id, queued);
  if (queued.length === 0) return null;
  return (
    <section className={css.queue} aria-label={words.list}>
      <h2>
        <Clock aria-hidden="true" /> {words.inputs(queued.length)}
      </h2>
      <ol>
        {queued.map((message, at) => (
          <Queued key={message.id} message={message} place={at + 1} of={queued.length} />
        ))}
      </ol>
    </section>
  );
}

function Queued({ message, place, of }: { message: Message; place: number; of: number }) {
  const { id, context_id: contextId } = message;
  const cache = useQueryClient();
  const [isEditing, setEditing] = useState(false);
  const settled = () => cache.invalidateQueries({ queryKey: keys.queues(contextId) });
  const change = useMutation({
    mutationFn: (patch: PatchMessage) => client.contexts.messages.update(contextId, id, patch),
    onSuccess: () => setEditing(false),
    onError: (error) => showError(words.changeFailed, error),
    onSettled: settled,
  });
  const withdraw = useMutation({
    mutationFn: () => client.contexts.messages.withdraw(contextId, id),
    onError: (error) => showError(words.withdrawFailed, error),
    onSettled: settled,
  });
  const move = (to: number): void => {
    if (to >= 1 && to <= of) change.mutate({ position: to });
  };
  const moveByKey = (event: KeyboardEvent): void => {
    if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return;
    event.preventDefault();
    move(event.key === 'ArrowUp' ? place - 1 : place + 1);
  };
  const text = textOf(message);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- shortcuts for its buttons
    <li className={css.item} onKeyDown={moveByKey} aria-label={words.input(place)}>
      {isEditing ? (
        <Edit
          text={text}
          busy={change.isPending}
          onSave={(content) => change.mutate({ content: withText(message, content) })}
          onClose={() => setEditing(false)}
        />
      ) : (
        <>
          <span className={css.place} aria-hidden="true">
            {place}
          </span>
          <p className={css.text}>{text === '' ? words.attachment : text}</p>
          <span className={css.actions}>
            <IconButton
              label={words.moveUp}
              keys="Alt+↑"
              size="small"
              disabled={place === 1}
              onClick={() => move(place - 1)}
            >
              <ChevronUp />
            </IconButton>
            <IconButton
              label={words.moveDown}
              keys="Alt+↓"
              size="small"
              disabled={place === of}
              onClick={() => move(place + 1)}
            >
              <ChevronDown />
            </IconButton>
            <IconButton label={commonWords.edit} size="small" onClick={() => setEditing(true)}>
              <Pencil />
            </IconButton>
            <IconButton
              label={words.withdraw}
              size="small"
              disabled={withdraw.isPending}
              onClick={() => withdraw.mutate()}
            >
              <X />
            </IconButton>
          </span>
        </>
      )}
    </li>
  );
}

/** Replaces the text and keeps the attachments. */
function withText(message: Message, text: string): NonNullable<PatchMessage['content']> {
  const files = message.content.filter((block) => block.type === 'image' || block.type === 'document');
  if (files.length === 0) return text;
  return [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...files] as NonNullable<PatchMessage['content']>;
}

function Edit({
  text,
  busy,
  onSave,
  onClose,
}: {
  text: string;
  busy: boolean;
  onSave: (text: string) => void;
  onClose: () => void;
}) {
  const [value, setValue] = useState(text);
  const save = (event?: FormEvent): void => {
    event?.preventDefault();
    if (value.trim() !== '') onSave(value);
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') onClose();
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    save();
  };
  return (
    <form className={css.edit} onSubmit={save}>
      <TextArea
        label={words.field}
        hideLabel
        autoFocus
        rows={2}
        value={value}
        onChange={({ target }) => setValue(target.value)}
        onKeyDown={press}
      />
      <span className={css.buttons}>
        <Button type="submit" size="small" variant="primary" busy={busy} disabled={value.trim() === ''}>
          {commonWords.save}
        </Button>
        <Button size="small" variant="quiet" onClick={onClose}>
          {commonWords.cancel}
        </Button>
      </span>
    </form>
  );
}
