/** The scopes of a new key: only those that this session has can be given. */
import { useId } from 'react';
import { useScopes, type Scope } from '../../../data/query/session.ts';
import { Checkbox } from '../../../ui/forms/checkbox.tsx';
import css from '../access.module.css';

const ALLOWS: Readonly<Record<Scope, string>> = {
  read: 'read everything but prompts, with the data of all users',
  run: 'create workers, post inputs, stop and answer them',
  configure: 'change roles, settings, schedules and webhooks',
  approve: 'decide on tool calls that wait for approval',
  keys: 'make and revoke keys and tokens, read the audit log',
};

type Props = {
  chosen: readonly Scope[];
  error: string | null;
  onChange: (chosen: readonly Scope[]) => void;
};

export function ScopesField({ chosen, error, onChange }: Props) {
  const scopes = useScopes();
  const noteId = useId();
  const isPartial = scopes.length < Object.keys(ALLOWS).length;
  const note = error ?? (isPartial ? 'Only scopes that your own key has are listed.' : null);
  return (
    <fieldset className={css.scopes} aria-describedby={note === null ? undefined : noteId}>
      <legend>Scopes</legend>
      {scopes.map((scope) => (
        <Checkbox
          key={scope}
          label={`${scope}: ${ALLOWS[scope]}`}
          checked={chosen.includes(scope)}
          onChange={(on) => onChange(scopes.filter((one) => (one === scope ? on : chosen.includes(one))))}
        />
      ))}
      {note !== null && (
        <p id={noteId} className={error === null ? css.hint : css.error} role={error === null ? undefined : 'alert'}>
          {note}
        </p>
      )}
    </fieldset>
  );
}
