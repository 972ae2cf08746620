/**
 * Input form. Enter sends, Shift+Enter inserts a line break, Escape leaves it or stops the answer; while a job is unfinished
 * the user selects the delivery.
 */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Paperclip, SendHorizontal, X } from 'lucide-react';
import { useEffect, useRef, useState, type FormEvent, type KeyboardEvent } from 'react';
import type { Context, PostMessage } from 'nightshift/client';
import { client } from '../../../data/client.ts';
import { useIsLost } from '../../../data/live/connection.ts';
import { keys } from '../../../data/query/keys.ts';
import { addSending, forgetSending, markSent } from '../../../data/query/sending.ts';
import { Button, IconButton } from '../../../ui/forms/button.tsx';
import { clickByKey } from '../../../ui/forms/page-keys.ts';
import { Select, type Option } from '../../../ui/forms/select.tsx';
import { showError } from '../../../ui/layout/toaster.tsx';
import { composerWords } from '../../../words.ts';
import { ACCEPTED, type Attached } from './attachments.ts';
import css from './composer.module.css';
import { keepDraft, readDraft } from './drafts.ts';
import { focusComposer, focusMessages } from './focus.ts';
import { useAttachments } from './use-attachments.ts';
import { isBusy, isMoving } from '../state.ts';

const words = composerWords;

type Delivery = keyof typeof words.deliveries;

const DELIVERIES = (Object.keys(words.deliveries) as Delivery[]).map((value): Option<Delivery> => ({
  value,
  label: words.deliveries[value],
}));

/** While a question waits, an input with delivery `queue` is its answer. */
const WHILE_ASKED = DELIVERIES.with(0, { value: 'queue', label: words.answerQuestion });

export function Composer({ context, state }: { context: Context; state: string }) {
  const [text, setText] = useState(() => readDraft(context.id));
  const { files, setFiles, add, paste, drop } = useAttachments();
  const [delivery, setDelivery] = useState<Delivery>('queue');
  const area = useRef<HTMLTextAreaElement>(null);
  const isLost = useIsLost();
  const busy = isBusy(state);
  const send = useSend(context);

  useEffect(() => keepDraft(context.id, text), [context.id, text]);
  useEffect(() => {
    if (globalThis.matchMedia('(pointer: fine)').matches) area.current?.focus({ preventScroll: true });
  }, []);

  const reason = reasonNot(state, isLost);
  const isEmpty = text.trim() === '' && files.length === 0;
  const submit = (event?: FormEvent): void => {
    event?.preventDefault();
    if (isEmpty || reason !== null || send.isPending) return;
    const written = { text, files, delivery };
    if (document.activeElement !== area.current) focusComposer();
    setText('');
    setFiles([]);
    // `steer` and `interrupt` apply to one input only.
    setDelivery('queue');
    send.mutate(
      { content: contentOf(text, files), ...(busy && delivery !== 'queue' ? { delivery } : {}) },
      {
        onError: () => {
          setText((newer) => (newer === '' ? written.text : newer));
          setFiles(written.files);
          setDelivery(written.delivery);
        },
      },
    );
  };
  /** With nothing written it stops the answer, else it leaves to the messages. */
  const pressEscape = (event: globalThis.KeyboardEvent): void => {
    if (event.isComposing) return;
    event.preventDefault();
    const conversation = area.current?.closest('section') ?? document.body;
    const hasStopped = isEmpty && isMoving(state) && clickByKey(event, conversation);
    if (!hasStopped && !event.repeat) focusMessages();
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') pressEscape(event.nativeEvent);
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  };

  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- accepts dropped files; the button offers the same
    <form className={css.composer} onSubmit={submit} onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      <Files files={files} onRemove={(at) => setFiles(files.toSpliced(at, 1))} />
      <textarea
        ref={area}
        data-composer
        className={css.area}
        aria-label={words.input}
        rows={1}
        placeholder={state === 'AwaitingInput' ? words.answerPlaceholder : words.placeholder}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={press}
        onPaste={paste}
      />
      <div className={css.bar}>
        <FileButton onFiles={add} />
        {busy && (
          <Select
            label={words.delivery}
            className={css.delivery}
            value={delivery}
            options={state === 'AwaitingInput' ? WHILE_ASKED : DELIVERIES}
            onChange={setDelivery}
          />
        )}
        <span className={css.reason} role="status">
          {reason}
        </span>
        <Button
          type="submit"
          variant="primary"
          busy={send.isPending}
          disabled={isEmpty || reason !== null || send.isPending}
          title={reason ?? (isEmpty ? words.isEmpty : undefined)}
        >
          {!send.isPending && <SendHorizontal aria-hidden="true" />} {words.send}
        </Button>
      </div>
    </form>
  );
}

/** Why sending is disabled; null if it is enabled. */
function reasonNot(state: string, isLost: boolean): string | null {
  if (state === 'Stopped') return words.isStopped;
  return isLost ? words.isLost : null;
}

function contentOf(text: string, files: readonly Attached[]): PostMessage['content'] {
  if (files.length === 0) return text;
  const textBlocks = text.trim() === '' ? [] : [{ type: 'text' as const, text }];
  return [...textBlocks, ...files.map(({ block }) => block)];
}

function useSend(context: Context) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (input: PostMessage) => client.contexts.send(context.id, input),
    onMutate: ({ content }) => addSending(context.id, content),
    onSuccess: ({ message_id }, _, key) => markSent(context.id, key, message_id),
    onError: (error, _, key) => {
      if (key !== undefined) forgetSending(context.id, key);
      showError(words.sendFailed, error);
    },
    // Not awaited, so that the next input can be sent before the lists are refetched.
    onSettled: () => {
      for (const queryKey of [keys.queues(context.id), keys.contextState(context.id), keys.refresh(keys.contexts)])
        void cache.invalidateQueries({ queryKey });
    },
  });
}

function FileButton({ onFiles }: { onFiles: (files: FileList) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <IconButton label={words.attachments.add} onClick={() => input.current?.click()}>
        <Paperclip />
      </IconButton>
      <input
        ref={input}
        type="file"
        hidden
        multiple
        accept={ACCEPTED}
        aria-label={words.attachments.files}
        onChange={({ target }) => {
          if (target.files !== null) onFiles(target.files);
          target.value = '';
        }}
      />
    </>
  );
}

function Files({ files, onRemove }: { files: readonly Attached[]; onRemove: (at: number) => void }) {
  if (files.length === 0) return null;
  return (
    <ul className={css.files} aria-label={words.attachments.list}>
      {files.map(({ name }, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- two files can have the same name
        <li key={at}>
          {name}
          <IconButton label={words.attachments.remove(name)} size="small" onClick={() => onRemove(at)}>
            <X />
          </IconButton>
        </li>
      ))}
    </ul>
  );
}
