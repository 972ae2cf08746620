/** Sign-in page, shown if the API requires a key, or a sign-in with OpenID Connect. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { NightshiftError } from 'nightshift/client';
import { useState, type FormEvent } from 'react';
import { forgetOffer } from '../data/account-choice.ts';
import { sessionQuery, signIn } from '../data/query/session.ts';
import { Button, buttonClass } from '../ui/forms/button.tsx';
import { TextField } from '../ui/forms/field.tsx';
import { useTitle } from '../ui/layout/page.tsx';
import css from './app.module.css';
import { Logo } from './logo.tsx';
import { entryAddress } from './oidc.ts';
import { appWords } from '../words.ts';

const words = appWords.signIn;

/** `problem`: why the last sign-in at the provider failed; null: it did not. */
export function SignIn({ problem, onSignedIn }: { problem: string | null; onSignedIn: () => void }) {
  useTitle(words.title);
  const [key, setKey] = useState('');
  const provider = useQuery(sessionQuery()).data?.oidc ?? null;
  const queryClient = useQueryClient();
  const entry = useMutation({
    mutationFn: signIn,
    onSuccess: () => {
      onSignedIn();
      // Discards answers that were fetched without a key or with another key.
      return queryClient.resetQueries();
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (key.trim() !== '') entry.mutate(key.trim());
  };
  return (
    <main className={css.middle}>
      <div className={css.signIn}>
        <div>
          <Logo />
          <h1>{words.heading}</h1>
          <p className={css.about}>{provider === null ? words.about : words.aboutProvider(provider.name)}</p>
        </div>
        {problem !== null && (
          <p role="alert" className={css.problem}>
            {problem}
          </p>
        )}
        {provider !== null && (
          <a className={buttonClass({ variant: 'primary' })} href={entryAddress()} onClick={forgetOffer}>
            {words.withProvider(provider.name)}
          </a>
        )}
        <form onSubmit={submit}>
          <TextField
            label={words.key}
            type="password"
            name="key"
            autoComplete="current-password"
            required
            autoFocus={provider === null}
            value={key}
            onChange={(event) => setKey(event.target.value)}
            error={entry.isError ? explain(entry.error) : null}
          />
          <Button type="submit" variant={provider === null ? 'primary' : 'secondary'} busy={entry.isPending}>
            {provider === null ? words.submit : words.submitKey}
          </Button>
        </form>
      </div>
    </main>
  );
}

function explain(error: Error): string {
  const unknown = error instanceof NightshiftError && error.code === 'unauthorized';
  return unknown ? words.keyInvalid : error.message;
}
