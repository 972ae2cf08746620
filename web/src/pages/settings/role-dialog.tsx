/** Dialog to create, edit or view a role. Roles of the config file are read-only. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { roleQuery } from '../../data/query/workers.ts';
import { Dialog } from '../../ui/layout/dialog.tsx';
import { ErrorState } from '../../ui/state/error-state.tsx';
import { Field } from '../../ui/forms/field.tsx';
import { Select } from '../../ui/forms/select.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { RoleForm } from './role-form.tsx';
import { NEW_ROLE, toBase } from './role-definition.ts';
import { settingsWords } from '../../words.ts';

const words = settingsWords.role;

export type EditedRole = { kind: 'new' } | { kind: 'known'; name: string; isFile: boolean };

/** Maximum number of versions in the list. */
const MOST_VERSIONS = 50;

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
  const [version, setVersion] = useState<number | null>(null);
  // Fetched once: the ETag detects concurrent changes when the role is saved.
  const current = useQuery({ ...roleQuery(name), staleTime: Infinity, gcTime: 0 });
  const older = useQuery({ ...roleQuery(name, version), enabled: version !== null, staleTime: Infinity });
  if (current.data === undefined)
    return current.isError ? (
      <ErrorState error={current.error} onRetry={() => void current.refetch()} busy={current.isFetching} />
    ) : (
      <Skeleton lines={6} />
    );
  const newest = current.data.role.version;
  const shown = version === null ? current.data : older.data;
  return (
    <>
      {isFile && current.data.role.effective === null && <p role="status">{words.unknown}</p>}
      {newest !== null && newest > 1 && (
        <Versions
          newest={newest}
          shown={version ?? newest}
          onChoose={(chosen) => setVersion(chosen === newest ? null : chosen)}
        />
      )}
      {shown === undefined && older.isError && (
        <ErrorState error={older.error} onRetry={() => void older.refetch()} busy={older.isFetching} />
      )}
      {shown === undefined && !older.isError && <Skeleton lines={6} />}
      {shown !== undefined && (
        <RoleForm
          key={version}
          known={name}
          first={toBase({ role: shown.role, etag: current.data.etag })}
          isReadOnly={isFile}
          onClose={onClose}
        />
      )}
    </>
  );
}

type VersionsProps = { newest: number; shown: number; onChoose: (version: number) => void };

function Versions({ newest, shown, onChoose }: VersionsProps) {
  const options = Array.from({ length: Math.min(newest, MOST_VERSIONS) }, (_, at) => ({
    value: String(newest - at),
    label: at === 0 ? words.current(newest) : String(newest - at),
  }));
  return (
    <Field label={words.version} hint={words.versionHint}>
      {(tie) => (
        <Select {...tie} value={String(shown)} options={options} onChange={(chosen) => onChoose(Number(chosen))} />
      )}
    </Field>
  );
}
