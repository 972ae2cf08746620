import type { VersionedRole } from '../../data/query/workers.ts';
import { Button } from '../../ui/forms/button.tsx';
import { settingsWords } from '../../words.ts';
import css from './settings.module.css';

const words = settingsWords.roleConflict;

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
      <p>{source === 'file' ? words.ofFile : words.changed(version ?? 1)}</p>
      <div className={css.actions}>
        <Button size="small" onClick={() => onShow(theirs)}>
          {words.show}
        </Button>
        {source === 'api' && (
          <Button size="small" variant="primary" onClick={() => onOverwrite(theirs)}>
            {words.overwrite}
          </Button>
        )}
      </div>
    </div>
  );
}
