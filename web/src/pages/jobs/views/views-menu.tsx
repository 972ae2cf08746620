/** Opens a view of the list, saves the shown one, and renames and deletes saved ones. */
import { Bookmark, Check } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../ui/forms/button.tsx';
import { Menu, MenuItem, MenuLabel, MenuLine } from '../../../ui/layout/menu.tsx';
import { jobsWords } from '../../../words.ts';
import type { JobSearch } from '../filter.ts';
import { useColumns } from '../use-columns.ts';
import { ManageDialog } from './manage-dialog.tsx';
import { SaveDialog } from './save-dialog.tsx';
import { useViews } from './use-views.ts';
import { GIVEN_VIEWS, isShown, type View } from './views.ts';

const words = jobsWords.views;

type Props = { search: JobSearch; onOpen: (search: JobSearch) => void };

export function ViewsMenu({ search, onOpen }: Props) {
  const { views, save, rename, remove } = useViews();
  const [columns, showColumns] = useColumns();
  const [opened, setOpened] = useState<'save' | 'manage' | null>(null);
  const open = (view: View): void => {
    if (view.columns !== undefined) showColumns(view.columns);
    onOpen(view.search);
  };
  const itemOf = (view: View) => (
    <MenuItem
      key={view.name}
      icon={isShown(view, search) ? <Check aria-label={words.shown} /> : <Bookmark aria-hidden="true" />}
      onSelect={() => open(view)}
    >
      {view.name}
    </MenuItem>
  );
  return (
    <>
      <Menu
        trigger={
          <Button>
            <Bookmark aria-hidden="true" /> {words.menu}
          </Button>
        }
      >
        {GIVEN_VIEWS.map(itemOf)}
        {views.length > 0 && (
          <>
            <MenuLine />
            <MenuLabel>{words.saved}</MenuLabel>
            {views.map(itemOf)}
          </>
        )}
        <MenuLine />
        <MenuItem onSelect={() => setOpened('save')}>{words.save}</MenuItem>
        {views.length > 0 && <MenuItem onSelect={() => setOpened('manage')}>{words.manage}</MenuItem>}
      </Menu>
      {opened === 'save' && (
        <SaveDialog views={views} onSave={(name) => save({ name, search, columns })} onClose={() => setOpened(null)} />
      )}
      {opened === 'manage' && (
        <ManageDialog views={views} onRename={rename} onDelete={remove} onClose={() => setOpened(null)} />
      )}
    </>
  );
}
