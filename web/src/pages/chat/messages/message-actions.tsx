/** Menu of a message: copy, edit, regenerate, branch, fork. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Copy, Ellipsis, GitBranch, GitFork, Pencil, RefreshCw } from 'lucide-react';
import { useNavigate } from '@tanstack/react-router';
import type { Context, Message } from 'nightshift/client';
import { useState } from 'react';
import { client } from '../../../data/client.ts';
import { textOf } from '../../../data/format.ts';
import { keys } from '../../../data/query/keys.ts';
import { IconButton } from '../../../ui/forms/button.tsx';
import { Menu, MenuItem, MenuLine } from '../../../ui/layout/menu.tsx';
import { showNotice, showError } from '../../../ui/layout/toaster.tsx';
import { messageMenuWords } from '../../../words.ts';
import { CreateBranch } from '../branches/create-branch.tsx';
import { EditInput } from './menu/edit-input.tsx';
import { SiblingSwitcher } from './menu/sibling-switcher.tsx';
import css from '../message-menu/message-menu.module.css';

const words = messageMenuWords;

export type MessageActionsProps = { context: Context; message: Message };

type Open = 'nothing' | 'edit' | 'branch';

/** Only completed messages have actions; queued inputs have none here. */
export function MessageActions({ context, message }: MessageActionsProps) {
  const [open, setOpen] = useState<Open>('nothing');
  const cache = useQueryClient();
  const navigate = useNavigate();
  const { id, context_id: contextId, role } = message;
  const regenerate = useMutation({
    mutationFn: () => client.contexts.messages.regenerate(contextId, id),
    onSuccess: ({ branch }) => {
      showNotice(words.regenerating(branch));
      return cache.invalidateQueries({ queryKey: keys.context(contextId) });
    },
    onError: (error) => showError(words.regenerateFailed, error),
  });
  const fork = useMutation({
    mutationFn: () => client.contexts.fork(contextId, { from_message_id: id }),
    onSuccess: (made) => navigate({ to: '/contexts/$contextId', params: { contextId: made.id } }),
    onError: (error) => showError(words.forkFailed, error),
  });
  if (message.status !== 'completed' || role === 'system') return null;
  const text = textOf(message);
  const copy = (): void => {
    if (!('clipboard' in navigator)) return showNotice(words.copyRefused);
    navigator.clipboard.writeText(text).then(
      () => showNotice(words.copied),
      () => showNotice(words.copyRefused),
    );
  };
  const isAnswered = role === 'user' || role === 'assistant';
  return (
    <span className={css.actions}>
      {isAnswered && <SiblingSwitcher context={context} messageId={id} />}
      <Menu
        align={role === 'user' ? 'end' : 'start'}
        trigger={
          <IconButton label={words.label} size="small" aria-busy={regenerate.isPending || fork.isPending}>
            <Ellipsis />
          </IconButton>
        }
      >
        {text !== '' && (
          <MenuItem icon={<Copy />} onSelect={copy}>
            {words.copy}
          </MenuItem>
        )}
        {role === 'user' && (
          <MenuItem icon={<Pencil />} onSelect={() => setOpen('edit')}>
            {words.edit.open}
          </MenuItem>
        )}
        {isAnswered && (
          <MenuItem icon={<RefreshCw />} disabled={regenerate.isPending} onSelect={() => regenerate.mutate()}>
            {role === 'user' ? words.regenerateAnswer : words.regenerate}
          </MenuItem>
        )}
        <MenuLine />
        <MenuItem icon={<GitBranch />} onSelect={() => setOpen('branch')}>
          {words.branch}
        </MenuItem>
        <MenuItem icon={<GitFork />} disabled={fork.isPending} onSelect={() => fork.mutate()}>
          {words.fork}
        </MenuItem>
      </Menu>
      {open === 'edit' && <EditInput message={message} onClose={() => setOpen('nothing')} />}
      {open === 'branch' && (
        <CreateBranch contextId={contextId} fromMessageId={id} onClose={() => setOpen('nothing')} />
      )}
    </span>
  );
}
