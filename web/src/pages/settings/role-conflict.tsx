import type { VersionedRole } from '../../data/query/workers.ts';
import { Button } from '../../ui/forms/button.tsx';
import css from './settings.module.css';

type Props = {
  theirs: VersionedRole;
  onShow: (theirs: VersionedRole) => void;
  onOverwrite: (theirs: VersionedRole) => void;
};

/** Shown if the role was changed, or created, by someone else during editing. */
export function RoleConflict({ theirs, onShow, onOverwrite }: Props) {
  const { source, version } = theirs.role;
  return (
    <div className={css.conflict} role="alert">
      <p>
        {source === 'file'
          ? 'The config file defines a role with this name.'
          : `The role was changed by someone else. Its current version is ${version ?? 1}.`}
      </p>
      <div className={css.actions}>
        <Button size="small" onClick={() => onShow(theirs)}>
          Show theirs
        </Button>
        {source === 'api' && (
          <Button size="small" variant="primary" onClick={() => onOverwrite(theirs)}>
            Overwrite with mine
          </Button>
        )}
      </div>
    </div>
  );
}
