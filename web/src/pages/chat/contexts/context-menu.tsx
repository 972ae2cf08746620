/** Menu with the actions on a context and its worker. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import * as Icon from 'lucide-react';
import type { Context } from 'nightshift/client';
import { useCallback, useState } from 'react';
import { client } from '../../../data/client.ts';
import { keys } from '../../../data/query/keys.ts';
import { workerQuery } from '../../../data/query/workers.ts';
import { IconButton } from '../../../ui/forms/button.tsx';
import { usePageKeys } from '../../../ui/forms/page-keys.ts';
import { Menu, MenuDownload, MenuItem, MenuLine } from '../../../ui/layout/menu.tsx';
import { showNotice, showError } from '../../../ui/layout/toaster.tsx';
import { SettingsDialog } from '../settings/settings-dialog.tsx';
import { ClearDialog } from './menu/clear-dialog.tsx';
import { DeleteDialog } from './menu/delete-dialog.tsx';
import { DetailsDialog } from './menu/details-dialog.tsx';
import { ForkDialog } from './menu/fork-dialog.tsx';
import { ImportDialog } from './menu/import-dialog.tsx';
import { JumpDialog } from './menu/jump-dialog.tsx';
import { RenameDialog } from './menu/rename-dialog.tsx';
import { chatWords, contextMenuWords, placeWords } from '../../../words.ts';

const words = contextMenuWords;

const DIALOGS = {
  jump: JumpDialog,
  rename: RenameDialog,
  settings: SettingsDialog,
  details: DetailsDialog,
  fork: ForkDialog,
  clear: ClearDialog,
  import: ImportDialog,
  delete: DeleteDialog,
} as const;

export function ContextMenu({ context }: { context: Context }) {
  const contextId = context.id;
  const [open, setOpen] = useState<keyof typeof DIALOGS | null>(null);
  const Dialog = open === null ? null : DIALOGS[open];
  const show = (dialog: keyof typeof DIALOGS) => () => setOpen(dialog);
  usePageKeys(
    useCallback(({ key }: KeyboardEvent) => {
      if (key === 't') setOpen('jump');
      return key === 't';
    }, []),
  );
  return (
    <>
      <Menu
        trigger={
          <IconButton label={words.label}>
            <Icon.EllipsisVertical />
          </IconButton>
        }
      >
        <MenuItem icon={<Icon.Pencil />} onSelect={show('rename')}>
          {words.rename.open}
        </MenuItem>
        <MenuItem icon={<Icon.SlidersHorizontal />} onSelect={show('settings')}>
          {words.settings}
        </MenuItem>
        <MenuItem icon={<Icon.CalendarSearch />} onSelect={show('jump')}>
          {words.jump.open}
        </MenuItem>
        <MenuItem icon={<Icon.Info />} onSelect={show('details')}>
          {words.details.open}
        </MenuItem>
        <MenuLine />
        <CompactItem contextId={contextId} />
        <MenuItem icon={<Icon.GitFork />} onSelect={show('fork')}>
          {words.fork.open}
        </MenuItem>
        <MenuLine />
        <Exports contextId={contextId} />
        <MenuItem icon={<Icon.Upload />} onSelect={show('import')}>
          {words.import.open}
        </MenuItem>
        <MenuLine />
        <WorkerItems context={context} />
        <MenuLine />
        <MenuItem icon={<Icon.Eraser />} danger onSelect={show('clear')}>
          {words.clear.open}
        </MenuItem>
        <MenuItem icon={<Icon.Trash2 />} danger onSelect={show('delete')}>
          {words.delete.open}
        </MenuItem>
      </Menu>
      {Dialog !== null && <Dialog contextId={contextId} onClose={() => setOpen(null)} />}
    </>
  );
}

function CompactItem({ contextId }: { contextId: string }) {
  const compact = useMutation({
    mutationFn: () => client.contexts.compact(contextId),
    onSuccess: () => showNotice(words.compact.done),
    onError: (error) => showError(words.compact.failed, error),
  });
  return (
    <MenuItem icon={<Icon.FoldVertical />} onSelect={() => compact.mutate()}>
      {words.compact.open}
    </MenuItem>
  );
}

const FORMATS = ['json', 'markdown', 'paired'] as const;

/** Plain links: the browser downloads the file itself, so its size does not matter. */
function Exports({ contextId }: { contextId: string }) {
  return FORMATS.map((format) => (
    <MenuDownload key={format} icon={<Icon.Download />} href={`/api/contexts/${contextId}/export?format=${format}`}>
      {words.exports[format]}
    </MenuDownload>
  ));
}

function WorkerItems({ context: { id: contextId, worker_id: workerId } }: { context: Context }) {
  const cache = useQueryClient();
  const navigate = useNavigate();
  const { data: worker } = useQuery(workerQuery(workerId));
  const isStopped = worker?.state === 'stopped';
  const turn = useMutation({
    mutationFn: () => (isStopped ? client.workers.start(workerId) : client.workers.stop(workerId)),
    onSuccess: async (now) => {
      showNotice(now.state === 'stopped' ? words.worker.stopped(now.name) : words.worker.started(now.name));
      await Promise.all([
        cache.invalidateQueries({ queryKey: keys.worker(workerId) }),
        cache.invalidateQueries({ queryKey: keys.context(contextId) }),
        cache.invalidateQueries({ queryKey: keys.trees }),
      ]);
    },
    onError: (error) => showError(isStopped ? chatWords.startFailed : words.worker.stopFailed, error),
  });
  return (
    <>
      <MenuItem
        icon={<Icon.Network />}
        onSelect={() => void navigate({ to: '/workers/$workerId/tree', params: { workerId } })}
      >
        {chatWords.tree}
      </MenuItem>
      <MenuItem
        icon={<Icon.ListChecks />}
        onSelect={() => void navigate({ to: '/jobs', search: { context_id: contextId } })}
      >
        {placeWords.jobs}
      </MenuItem>
      <MenuItem icon={isStopped ? <Icon.Play /> : <Icon.CircleStop />} onSelect={() => turn.mutate()}>
        {isStopped ? chatWords.startWorker : words.worker.stop}
      </MenuItem>
    </>
  );
}
