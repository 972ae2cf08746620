import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { FormEvent } from 'react';
import { keys } from '../../data/query/keys.ts';
import { useModels, useProviders, useServers, useTools } from '../../data/names.ts';
import { systemQuery } from '../../data/query/system.ts';
import { putRole } from '../../data/query/workers.ts';
import type { VersionedRole } from '../../data/query/workers.ts';
import { Button } from '../../ui/forms/button.tsx';
import { Choices } from '../../ui/forms/choices.tsx';
import { TextArea, TextField } from '../../ui/forms/field.tsx';
import { readError } from '../../ui/state/read-error.ts';
import { showNotice } from '../../ui/layout/toaster.tsx';
import { parseRest, toDefinition, toDraft } from './role-draft.ts';
import type { Draft } from './role-draft.ts';
import css from './settings.module.css';

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** `name` is null for a new role. `etag`: of the edited version. */
export function RoleForm({
  name,
  etag,
  draft,
  mode,
  onClose,
}: {
  name: string | null;
  etag: string | null;
  draft: Draft;
  mode: 'edit' | 'look';
  onClose: () => void;
}) {
  const cache = useQueryClient();
  const system = useQuery(systemQuery()).data;
  const [chosen, setChosen] = useState(name ?? '');
  const [written, setWritten] = useState(draft);
  const [version, setVersion] = useState(etag);
  const [theirs, setTheirs] = useState<VersionedRole | null>(null);
  const set = (part: Partial<Draft>): void => setWritten({ ...written, ...part });
  const models = useModels();
  const providers = useProviders();
  const servers = useServers();
  const tools = useTools(written.servers);
  const isLook = mode === 'look';
  const definition = toDefinition(written);
  const save = useMutation({
    mutationFn: (against: string | null) => putRole(chosen, against, definition ?? {}),
    onSuccess: (change) => {
      if (change.kind === 'conflict') return setTheirs(change.theirs);
      showNotice(`Role ${chosen} saved as version ${change.role.version ?? 1}`);
      onClose();
    },
    onSettled: () => cache.invalidateQueries({ queryKey: keys.roles }),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (definition !== null && NAME.test(chosen) && !isLook) save.mutate(version);
  };
  return (
    <form className={css.form} onSubmit={submit}>
      {name === null && (
        <TextField
          label="Name"
          required
          value={chosen}
          onChange={({ target }) => setChosen(target.value)}
          hint="Letters, digits, - and _."
          error={
            chosen === '' || NAME.test(chosen)
              ? null
              : 'Use only letters, digits, - and _, at most 64 characters.'
          }
        />
      )}
      <TextField
        label="Model"
        placeholder={system?.default_model ?? 'provider/model'}
        readOnly={isLook}
        value={written.model}
        onChange={({ target }) => set({ model: target.value })}
        suggestions={models}
        hint={`provider/model. Configured providers: ${providers.join(', ') || 'none'}`}
      />
      <TextArea
        label="System prompt"
        rows={5}
        readOnly={isLook}
        value={written.systemPrompt}
        onChange={({ target }) => set({ systemPrompt: target.value })}
      />
      <Choices
        label="Tools"
        disabled={isLook}
        chosen={written.tools}
        known={tools}
        onChange={(tools) => set({ tools })}
      />
      {servers.length + written.servers.length > 0 && (
        <Choices
          label="MCP servers"
          hint="Includes all tools of a server."
          disabled={isLook}
          chosen={written.servers}
          known={servers}
          onChange={(servers) => set({ servers })}
        />
      )}
      <TextField
        label="Max model calls per job"
        type="number"
        min={1}
        readOnly={isLook}
        value={written.maxSteps}
        onChange={({ target }) => set({ maxSteps: target.value })}
      />
      <TextArea
        label="Other settings (JSON)"
        rows={4}
        className={css.code}
        spellCheck={false}
        readOnly={isLook}
        value={written.rest}
        onChange={({ target }) => set({ rest: target.value })}
        hint='Example: {"approval": [{"tool": "*", "decision": "always"}], "compaction": {"type": "llm"}}'
        error={parseRest(written.rest) === null ? 'Enter a JSON object.' : null}
      />
      {save.isError && (
        <p className={css.error} role="alert">
          {readError(save.error).message}
        </p>
      )}
      {theirs !== null && (
        <div className={css.conflict} role="alert">
          <p>
            {theirs.role.source === 'file'
              ? 'The config file defines a role with this name.'
              : `The role was changed by someone else. Its current version is ${theirs.role.version ?? 1}.`}
          </p>
          <div className={css.actions}>
            <Button
              size="small"
              onClick={() => {
                setWritten(toDraft(theirs.role));
                setVersion(theirs.etag);
                setTheirs(null);
              }}
            >
              Show theirs
            </Button>
            {theirs.role.source === 'api' && (
              <Button
                size="small"
                variant="danger"
                onClick={() => {
                  setVersion(theirs.etag);
                  setTheirs(null);
                  save.mutate(theirs.etag);
                }}
              >
                Overwrite with mine
              </Button>
            )}
          </div>
        </div>
      )}
      <div className={css.actions}>
        <Button onClick={onClose}>{isLook ? 'Close' : 'Cancel'}</Button>
        {!isLook && (
          <Button
            type="submit"
            variant="primary"
            busy={save.isPending}
            disabled={definition === null || !NAME.test(chosen)}
          >
            Save
          </Button>
        )}
      </div>
    </form>
  );
}
