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
import { CreateBranch } from '../branches/create-branch.tsx';
import { EditInput } from './menu/edit-input.tsx';
import { SiblingSwitcher } from './menu/sibling-switcher.tsx';
import css from '../message-menu/message-menu.module.css';

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
      showNotice(`Regenerating on branch ${branch}`);
      return cache.invalidateQueries({ queryKey: keys.context(contextId) });
    },
    onError: (error) => showError('Could not regenerate the answer', error),
  });
  const fork = useMutation({
    mutationFn: () => client.contexts.fork(contextId, { from_message_id: id }),
    onSuccess: (made) => navigate({ to: '/contexts/$contextId', params: { contextId: made.id } }),
    onError: (error) => showError('Could not fork the context', error),
  });
  if (message.status !== 'completed' || role === 'system') return null;
  const text = textOf(message);
  const copy = (): void => {
    if (!('clipboard' in navigator)) return showNotice('The browser does not allow this page to copy.');
    navigator.clipboard.writeText(text).then(
      () => showNotice('Copied'),
      () => showNotice('The browser does not allow this page to copy.'),
    );
  };
  const isAnswered = role === 'user' || role === 'assistant';
  return (
    <span className={css.actions}>
      {isAnswered && <SiblingSwitcher context={context} messageId={id} />}
      <Menu
        align={role === 'user' ? 'end' : 'start'}
        trigger={
          <IconButton label="Message actions" size="small" aria-busy={regenerate.isPending || fork.isPending}>
            <Ellipsis />
          </IconButton>
        }
      >
        {text !== '' && (
          <MenuItem icon={<Copy />} onSelect={copy}>
            Copy
          </MenuItem>
        )}
        {role === 'user' && (
          <MenuItem icon={<Pencil />} onSelect={() => setOpen('edit')}>
            Edit …
          </MenuItem>
        )}
        {isAnswered && (
          <MenuItem icon={<RefreshCw />} disabled={regenerate.isPending} onSelect={() => regenerate.mutate()}>
            {role === 'user' ? 'Regenerate answer' : 'Regenerate'}
          </MenuItem>
        )}
        <MenuLine />
        <MenuItem icon={<GitBranch />} onSelect={() => setOpen('branch')}>
          Branch from here …
        </MenuItem>
        <MenuItem icon={<GitFork />} disabled={fork.isPending} onSelect={() => fork.mutate()}>
          Fork into a new context
        </MenuItem>
      </Menu>
      {open === 'edit' && <EditInput message={message} onClose={() => setOpen('nothing')} />}
      {open === 'branch' && (
        <CreateBranch contextId={contextId} fromMessageId={id} onClose={() => setOpen('nothing')} />
      )}
    </span>
  );
}
