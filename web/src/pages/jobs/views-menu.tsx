/** Opens a view of the list, saves the shown one, and renames and deletes saved ones. */
import { Bookmark, Check, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton } from '../../ui/forms/button.tsx';
import { TextField } from '../../ui/forms/field.tsx';
import { TextFilter } from '../../ui/forms/text-filter.tsx';
import { Dialog } from '../../ui/layout/dialog.tsx';
import { FormDialog } from '../../ui/layout/form-dialog.tsx';
import { Menu, MenuItem, MenuLabel, MenuLine } from '../../ui/layout/menu.tsx';
import { actionOn, commonWords, jobsWords } from '../../words.ts';
import { useColumns } from './columns.ts';
import type { JobSearch } from './filter.ts';
import css from './jobs.module.css';
import { GIVEN_VIEWS, deleteView, isShown, renameView, saveView, useViews, type View } from './views.ts';

const words = jobsWords.views;

type Props = { search: JobSearch; onOpen: (search: JobSearch) => void };

export function ViewsMenu({ search, onOpen }: Props) {
  const views = useViews();
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
        <SaveDialog
          names={views.map(({ name }) => name)}
          onSave={(name) => saveView({ name, search, columns })}
          onClose={() => setOpened(null)}
        />
      )}
      {opened === 'manage' && <ManageDialog views={views} onClose={() => setOpened(null)} />}
    </>
  );
}

const LONGEST_NAME = 60;

type SaveProps = { names: readonly string[]; onSave: (name: string) => void; onClose: () => void };

function SaveDialog({ names, onSave, onClose }: SaveProps) {
  const [name, setName] = useState('');
  const trimmed = name.trim();
  return (
    <FormDialog
      title={words.saveTitle}
      description={words.saveAbout}
      submit={commonWords.save}
      canSubmit={trimmed !== ''}
      saving={{ isPending: false, error: null }}
      onSubmit={() => {
        onSave(trimmed);
        onClose();
      }}
      onClose={onClose}
    >
      <TextField
        label={commonWords.name}
        value={name}
        maxLength={LONGEST_NAME}
        hint={names.includes(trimmed) ? words.replaces : undefined}
        onChange={({ target }) => setName(target.value)}
      />
    </FormDialog>
  );
}

function ManageDialog({ views, onClose }: { views: readonly View[]; onClose: () => void }) {
  return (
    <Dialog
      open
      onClose={onClose}
      title={words.manageTitle}
      description={words.manageAbout}
      actions={<Button onClick={onClose}>{commonWords.close}</Button>}
    >
      {views.length === 0 ? (
        <p>{words.none}</p>
      ) : (
        <ul className={css.views} aria-label={words.saved}>
          {views.map(({ name }) => (
            <li key={name}>
              <TextFilter
                label={words.nameOf(name)}
                value={name}
                onChange={(next) => next !== undefined && renameView(name, next.slice(0, LONGEST_NAME))}
              />
              <IconButton label={actionOn(commonWords.delete, name)} onClick={() => deleteView(name)}>
                <Trash2 />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}
