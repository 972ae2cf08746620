/** Dialog to create, edit or view a role. Roles of the config file are read-only. */
import { useQuery } from '@tanstack/react-query';
import { roleQuery } from '../../data/query/workers.ts';
import { Dialog } from '../../ui/layout/dialog.tsx';
import { ErrorState } from '../../ui/state/error-state.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { RoleForm } from './role-form.tsx';
import { NEW_ROLE, toBase } from './role-definition.ts';
import { settingsWords } from '../../words.ts';

const words = settingsWords.role;

export type EditedRole = { kind: 'new' } | { kind: 'known'; name: string; isFile: boolean };

export function RoleDialog({ edited, onClose }: { edited: EditedRole | null; onClose: () => void }) {
  return (
    <Dialog open={edited !== null} onClose={onClose} wide title={titleOf(edited)} description={descriptionOf(edited)}>
      {edited?.kind === 'new' && <RoleForm known={null} first={NEW_ROLE} isReadOnly={false} onClose={onClose} />}
      {edited?.kind === 'known' && (
        <Known key={edited.name} name={edited.name} isFile={edited.isFile} onClose={onClose} />
      )}
    </Dialog>
  );
}

function descriptionOf(edited: EditedRole | null): string {
  if (edited === null || edited.kind === 'new') return words.defaults;
  return edited.isFile ? words.ofFile : words.greyed;
}

function titleOf(edited: EditedRole | null): string {
  if (edited === null || edited.kind === 'new') return settingsWords.roles.new;
  return edited.isFile ? words.titleOfFile(edited.name) : words.edit(edited.name);
}

function Known({ name, isFile, onClose }: { name: string; isFile: boolean; onClose: () => void }) {
  // Fetched once: the ETag detects concurrent changes when the role is saved.
  const current = useQuery({ ...roleQuery(name), staleTime: Infinity, gcTime: 0 });
  if (current.data === undefined)
    return current.isError ? (
      <ErrorState error={current.error} onRetry={() => void current.refetch()} busy={current.isFetching} />
    ) : (
      <Skeleton lines={6} />
    );
  return (
    <>
      {isFile && current.data.role.effective === null && <p role="status">{words.unknown}</p>}
      <RoleForm known={name} first={toBase(current.data)} isReadOnly={isFile} onClose={onClose} />
    </>
  );
}
