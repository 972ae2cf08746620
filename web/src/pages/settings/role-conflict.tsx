/** Shown if the role was changed, or created, by someone else during editing. */
import type { Role } from 'nightshift/client';
import { Button } from '../../ui/forms/button.tsx';
import css from './settings.module.css';

export function RoleConflict({
  theirs,
  onShow,
  onOverwrite,
}: {
  theirs: Role;
  onShow: () => void;
  onOverwrite: () => void;
}) {
  return (
    <div className={css.conflict} role="alert">
      <p>
        {theirs.source === 'file'
          ? 'The config file defines a role with this name.'
          : `The role was changed by someone else. Its current version is ${theirs.version ?? 1}.`}
      </p>
      <div className={css.actions}>
        <Button size="small" onClick={onShow}>
          Show theirs
        </Button>
        {theirs.source === 'api' && (
          <Button size="small" variant="danger" onClick={onOverwrite}>
            Overwrite with mine
          </Button>
        )}
      </div>
    </div>
  );
}
