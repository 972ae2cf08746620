/** Renames and deletes saved views. */
import { Trash2 } from 'lucide-react';
import { Button, IconButton } from '../../../ui/forms/button.tsx';
import { TextFilter } from '../../../ui/forms/text-filter.tsx';
import { Dialog } from '../../../ui/layout/dialog.tsx';
import { actionOn, commonWords, jobsWords } from '../../../words.ts';
import css from '../jobs.module.css';
import { LONGEST_NAME } from './save-dialog.tsx';
import { isTaken, type View } from './views.ts';

const words = jobsWords.views;

type Props = {
  views: readonly View[];
  onRename: (from: string, to: string) => void;
  onDelete: (name: string) => void;
  onClose: () => void;
};

export function ManageDialog({ views, onRename, onDelete, onClose }: Props) {
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
                faultOf={(text) => (isTaken(views, name, toName(text)) ? words.nameTaken : null)}
                onChange={(next) => next !== undefined && onRename(name, toName(next))}
              />
              <IconButton label={actionOn(commonWords.delete, name)} onClick={() => onDelete(name)}>
                <Trash2 />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}

function toName(text: string): string {
  return text.trim().slice(0, LONGEST_NAME).trim();
}
