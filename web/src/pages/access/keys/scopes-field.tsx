/** The scopes of a new key: only those that this session has can be given. */
import { useScopes, type Scope } from '../../../data/query/session.ts';
import { DescribedChoices } from '../../../ui/forms/described-choices.tsx';

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
