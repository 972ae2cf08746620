/** The scopes of a new key: only those that this session has can be given, and all for the first key of a tenant. */
import { useScopes, type KeyScope } from '../data/query/session.ts';
import { DescribedChoices } from '../ui/forms/described-choices.tsx';

const ALLOWS: Readonly<Record<KeyScope, string>> = {
  read: 'read everything except prompts, for all users',
  run: 'create and delete workers and contexts, post inputs, cancel jobs, answer questions',
  configure: 'change roles, settings, schedules and webhooks; import contexts; read prompts',
  approve: 'decide on tool calls, remove grants, resolve unknown outcomes',
  keys: 'create and revoke keys, create and revoke tokens of any user, read the audit log',
};

/** What lets the tenant make other keys. */
export const NEEDED_IN_FIRST = 'keys';

type Props = {
  isFirst: boolean;
  chosen: readonly KeyScope[];
  error: string | null;
  onChange: (chosen: readonly KeyScope[]) => void;
};

export function ScopesField({ isFirst, chosen, error, onChange }: Props) {
  const own = useScopes();
  const all = Object.keys(ALLOWS).filter((scope): scope is KeyScope => scope in ALLOWS);
  const scopes = isFirst ? all : all.filter((scope) => own.includes(scope));
  const isPartial = scopes.length < all.length;
  return (
    <DescribedChoices
      label="Scopes"
      choices={scopes.map((value) => ({ value, about: ALLOWS[value] }))}
      chosen={chosen}
      hint={hintOf(isFirst, isPartial)}
      error={error}
      onChange={onChange}
    />
  );
}

function hintOf(isFirst: boolean, isPartial: boolean): string | undefined {
  if (isFirst) return 'The first key needs the scope keys.';
  return isPartial ? 'Only scopes that your own key has are listed.' : undefined;
}
