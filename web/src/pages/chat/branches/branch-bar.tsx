/** Menu with the active branch and the actions on branches. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ChevronDown, GitBranch, GitBranchPlus, ListTree } from 'lucide-react';
import type { Context } from 'nightshift/client';
import { useState } from 'react';
import { client } from '../../../data/client.ts';
import { keys } from '../../../data/query/keys.ts';
import { Button } from '../../../ui/forms/button.tsx';
import { Menu, MenuChoice, MenuItem, MenuLine } from '../../../ui/layout/menu.tsx';
import { showError } from '../../../ui/layout/toaster.tsx';
import { branchWords } from '../../../words.ts';
import css from './branches.module.css';
import { BranchesDialog } from './branches-dialog.tsx';
import { CreateBranch } from './create-branch.tsx';

const words = branchWords;

/** Maximum number of branches in the menu; the dialog lists all. */
const OFFERED = 12;

export function BranchBar({ context }: { context: Context }) {
  const { id: contextId, active_branch: active, branches } = context;
  const [open, setOpen] = useState<'nothing' | 'all' | 'new'>('nothing');
  const cache = useQueryClient();
  const go = useMutation({
    mutationFn: (name: string) => client.contexts.branches.switch(contextId, name),
    onSuccess: () => cache.invalidateQueries({ queryKey: keys.context(contextId) }),
    onError: (error) => showError(words.switchFailed, error),
  });
  return (
    <>
      <Menu
        trigger={
          <Button size="small" variant="quiet" busy={go.isPending} aria-label={words.active(active)}>
            <GitBranch />
            <span className={css.active}>{active}</span>
            {branches.length > 1 && <span className={css.count} data-count={branches.length} />}
            <ChevronDown />
          </Button>
        }
      >
        <MenuChoice
          label={words.choice}
          value={active}
          options={offered(branches, active).map((name) => ({ value: name, label: name }))}
          onChange={(name) => name !== active && go.mutate(name)}
        />
        <MenuLine />
        <MenuItem icon={<GitBranchPlus />} onSelect={() => setOpen('new')}>
          {words.new}
        </MenuItem>
        <MenuItem icon={<ListTree />} onSelect={() => setOpen('all')}>
          {branches.length > OFFERED ? words.all(branches.length) : words.manage}
        </MenuItem>
      </Menu>
      {open === 'new' && <CreateBranch contextId={contextId} onClose={() => setOpen('nothing')} />}
      {open === 'all' && <BranchesDialog contextId={contextId} onClose={() => setOpen('nothing')} />}
    </>
  );
}

/** The active branch and the newest branches. */
function offered(branches: readonly string[], active: string): string[] {
  if (branches.length <= OFFERED) return [...branches];
  const newest = branches.slice(1 - OFFERED);
  return newest.includes(active) ? newest : [active, ...newest];
}
