/** Sign-in page, shown if the API requires a key. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { NightshiftError } from 'nightshift/client';
import { useState, type FormEvent } from 'react';
import { signIn } from '../data/query/session.ts';
import { Button } from '../ui/forms/button.tsx';
import { TextField } from '../ui/forms/field.tsx';
import { useTitle } from '../ui/layout/page.tsx';
import css from './app.module.css';
import { Logo } from './logo.tsx';

export function SignIn() {
  useTitle('Sign in');
  const [key, setKey] = useState('');
  const queryClient = useQueryClient();
  const entry = useMutation({
    mutationFn: signIn,
    // Discards answers that were fetched without a key or with another key.
    onSuccess: () => queryClient.resetQueries(),
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
          <h1>Sign in to Nightshift</h1>
          <p className={css.about}>
            Enter an API key of this installation. The admin key opens the pages of the operator.
          </p>
        </div>
        <form onSubmit={submit}>
          <TextField
            label="API key"
            type="password"
            name="key"
            autoComplete="current-password"
            required
            autoFocus
            value={key}
            onChange={(event) => setKey(event.target.value)}
            error={entry.isError ? explain(entry.error) : null}
          />
          <Button type="submit" variant="primary" busy={entry.isPending}>
            Sign in
          </Button>
        </form>
      </div>
    </main>
  );
}

function explain(error: Error): string {
  const unknown = error instanceof NightshiftError && error.code === 'unauthorized';
  return unknown ? 'This API key is not valid.' : error.message;
}
