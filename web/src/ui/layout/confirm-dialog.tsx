/**
 * Asks before something is gone for good: names it, lists what goes with it, and says that it cannot be undone. A button
 * or menu item that opens it is red (`risky`, `danger`); no other one is.
 */
import type { ReactNode } from 'react';
import { uiWords } from '../../words.ts';
import css from './confirm-dialog.module.css';
import { FormDialog } from './form-dialog.tsx';

type Props = {
  /** A verb, and what it is done to: “Delete role support?” */
  title: string;
  description?: string | undefined;
  /** What goes, each on a line. */
  goes?: readonly ReactNode[];
  /** The verb of the title, as label of the red button. */
  submit: string;
  /** Label of the other button, where “Cancel” could be read as the verb. */
  keep?: string;
  canSubmit?: boolean;
  saving: { isPending: boolean; error: unknown };
  onSubmit: () => void;
  onClose: () => void;
  /** Fields that must be filled in first. */
  children?: ReactNode;
};

export function ConfirmDialog({ goes = [], children, ...form }: Props) {
  return (
    <FormDialog {...form} danger>
      {goes.length > 0 && (
        <ul className={css.goes}>
          {goes.map((line, at) => (
            // oxlint-disable-next-line react/no-array-index-key -- the lines do not move
            <li key={at}>{line}</li>
          ))}
        </ul>
      )}
      {children}
      <p className={css.undo}>{uiWords.noUndo}</p>
    </FormDialog>
  );
}
