/** List of roles. Roles of the config file are read-only. */
import { useQuery } from '@tanstack/react-query';
import { Plus, Users } from 'lucide-react';
import { useState } from 'react';
import type { Role } from 'nightshift/client';
import { rolesQuery } from '../../data/query/workers.ts';
import { Badge } from '../../ui/text/badge.tsx';
import { Button } from '../../ui/forms/button.tsx';
import { Empty } from '../../ui/layout/empty.tsx';
import { ErrorState } from '../../ui/state/error-state.tsx';
import { LongList, type Place } from '../../ui/layout/long-list.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { RelativeTime } from '../../ui/text/time.tsx';
import { DeleteRole } from './delete-role.tsx';
import { RoleDialog, type EditedRole } from './role-dialog.tsx';
import { RoleVersions } from './versions/role-versions.tsx';
import listCss from '../../ui/list.module.css';
import { actionOn, commonWords, settingsWords } from '../../words.ts';
import css from './settings.module.css';

const words = settingsWords.roles;

export function Roles() {
  const roles = useQuery(rolesQuery());
  const [edited, setEdited] = useState<EditedRole | null>(null);
  const [deleted, setDeleted] = useState<Role | null>(null);
  const [versionsOf, setVersionsOf] = useState<string | null>(null);
  const make = (
    <Button variant="primary" onClick={() => setEdited({ kind: 'new' })}>
      <Plus aria-hidden="true" /> {words.new}
    </Button>
  );
  return (
    <div className={listCss.stack}>
      <div className={listCss.bar}>
        <p className={css.about}>{words.about}</p>
        {make}
      </div>
      {roles.isPending && <Skeleton lines={3} height={56} />}
      {roles.isError && roles.data === undefined && (
        <ErrorState error={roles.error} onRetry={() => void roles.refetch()} busy={roles.isFetching} />
      )}
      {roles.data?.length === 0 && (
        <Empty icon={<Users aria-hidden="true" />} title={words.empty}>
          {words.emptyAbout}
        </Empty>
      )}
      {roles.data !== undefined && roles.data.length > 0 && (
        <LongList
          label={settingsWords.tabs.roles}
          className={listCss.items}
          items={roles.data}
          itemKey={({ name }) => name}
        >
          {(role, place) => (
            <RoleItem
              key={role.name}
              place={place}
              role={role}
              onOpen={() => setEdited({ kind: 'known', name: role.name, isFile: role.source === 'file' })}
              onVersions={() => setVersionsOf(role.name)}
              onDelete={() => setDeleted(role)}
            />
          )}
        </LongList>
      )}
      <RoleDialog edited={edited} onClose={() => setEdited(null)} />
      <RoleVersions name={versionsOf} onClose={() => setVersionsOf(null)} />
      {deleted !== null && <DeleteRole role={deleted} onClose={() => setDeleted(null)} />}
    </div>
  );
}

type ItemProps = { place: Place; role: Role; onOpen: () => void; onVersions: () => void; onDelete: () => void };

function RoleItem({ place, role, onOpen, onVersions, onDelete }: ItemProps) {
  const isFile = role.source === 'file';
  const tools = role.tools?.length ?? 0;
  const open = isFile ? words.show : commonWords.edit;
  return (
    <li {...place} className={listCss.item} aria-label={role.name}>
      <div className={listCss.itemHead}>
        <span className={listCss.strong}>{role.name}</span>
        {isFile ? <Badge>{words.ofFile}</Badge> : <Badge tone="accent">{words.version(role.version ?? 1)}</Badge>}
        <span className={listCss.buttons}>
          <Button size="small" onClick={onOpen} aria-label={actionOn(open, words.role(role.name))}>
            {open}
          </Button>
          {!isFile && (
            <Button
              size="small"
              onClick={onVersions}
              aria-label={actionOn(settingsWords.versions.open, words.role(role.name))}
            >
              {settingsWords.versions.open}
            </Button>
          )}
          {!isFile && (
            <Button
              size="small"
              variant="risky"
              onClick={onDelete}
              aria-label={actionOn(commonWords.delete, words.role(role.name))}
            >
              {commonWords.delete}
            </Button>
          )}
        </span>
      </div>
      <p className={css.about}>
        {role.model ?? words.defaultModel} · {words.tools(tools)}
        {role.updated_at !== null && (
          <>
            {' · '}
            <RelativeTime at={role.updated_at} />
          </>
        )}
      </p>
      {role.system_prompt !== undefined && <p className={css.prompt}>{role.system_prompt}</p>}
    </li>
  );
}
