/** The scopes of a new key: only those that this session has can be given. */
import { useScopes, type KeyScope } from '../../../data/query/session.ts';
import { DescribedChoices } from '../../../ui/forms/described-choices.tsx';

const ALLOWS: Readonly<Record<KeyScope, string>> = {
  read: 'read everything except prompts, for all users',
  run: 'create and delete workers and contexts, post inputs, cancel jobs, answer questions',
  configure: 'change roles, settings, schedules and webhooks; import contexts; read prompts',
  approve: 'decide on tool calls, remove grants, resolve unknown outcomes',
  keys: 'create and revoke keys, create and revoke tokens of any user, read the audit log',
};

type Props = {
  chosen: readonly KeyScope[];
  error: string | null;
  onChange: (chosen: readonly KeyScope[]) => void;
};

export function ScopesField({ chosen, error, onChange }: Props) {
  const scopes = useScopes().filter((scope) => scope !== 'operator');
  const isPartial = scopes.length < Object.keys(ALLOWS).length;
  return (
    <DescribedChoices
      label="Scopes"
      choices={scopes.map((value) => ({ value, about: ALLOWS[value] }))}
      chosen={chosen}
      hint={isPartial ? 'Only scopes that your own key has are listed.' : undefined}
      error={error}
      onChange={onChange}
    />
  );
}
