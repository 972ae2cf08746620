/** The scopes of a new key: only those that this session has can be given, and all for the first key of a tenant. */
import { useScopes, type KeyScope } from '../data/query/session.ts';
import { DescribedChoices } from '../ui/forms/described-choices.tsx';
import { apiKeysWords } from '../words.ts';

const words = apiKeysWords.scopes;

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
  const all = Object.keys(words.allows).filter((scope): scope is KeyScope => scope in words.allows);
  const scopes = isFirst ? all : all.filter((scope) => own.includes(scope));
  const isPartial = scopes.length < all.length;
  return (
    <DescribedChoices
      label={words.label}
      choices={scopes.map((value) => ({ value, about: words.allows[value] }))}
      chosen={chosen}
      hint={hintOf(isFirst, isPartial)}
      error={error}
      onChange={onChange}
    />
  );
}

function hintOf(isFirst: boolean, isPartial: boolean): string | undefined {
  if (isFirst) return words.firstHint;
  return isPartial ? words.ownHint : undefined;
}
