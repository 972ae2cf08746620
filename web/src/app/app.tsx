/** Root component: query cache, sign-in and router. */
import { QueryClientProvider, useQuery } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { followChanges } from '../data/live/changes.ts';
import { makeQueryClient } from '../data/query/query-client.ts';
import { sessionQuery, useMay, useWhose } from '../data/query/session.ts';
import { ErrorState } from '../ui/state/error-state.tsx';
import { Spinner } from '../ui/state/spinner.tsx';
import { SecretDialog } from '../ui/layout/secret-dialog.tsx';
import { showFailure, Toaster } from '../ui/layout/toaster.tsx';
import { TooltipProvider } from '../ui/layout/tooltip.tsx';
import css from './app.module.css';
import { ErrorBoundary } from './error-boundary.tsx';
import { router } from './router.tsx';
import { SignIn } from './sign-in.tsx';
import { appWords, commonWords } from '../words.ts';

const queryClient = makeQueryClient();

/** `entryError`: why the last sign-in failed; null: it did not. */
export function App({ entryError }: { entryError: string | null }) {
  return (
    <ErrorBoundary>
      <QueryClientProvider client={queryClient}>
        <TooltipProvider>
          <SignInGuard entryError={entryError} />
          <Toaster />
          <SecretDialog />
        </TooltipProvider>
      </QueryClientProvider>
    </ErrorBoundary>
  );
}

/** Sends no other request until the session query shows whether an API key is needed. */
function SignInGuard({ entryError }: { entryError: string | null }) {
  const session = useQuery(sessionQuery());
  const [problem, setProblem] = useState(entryError);
  if (session.data?.signed_in === true) return <SignedIn problem={problem} onShown={() => setProblem(null)} />;
  if (session.data !== undefined) return <SignIn problem={problem} onSignedIn={() => setProblem(null)} />;
  return (
    <main className={css.middle}>
      {session.isError ? (
        <ErrorState
          title={appWords.unreachable}
          error={session.error}
          onRetry={() => void session.refetch()}
          busy={session.isFetching}
        />
      ) : (
        <Spinner label={commonWords.loading} />
      )}
    </main>
  );
}

/** Another sign-in may have failed while this browser was signed in. */
function SignedIn({ problem, onShown }: { problem: string | null; onShown: () => void }) {
  const mayRead = useMay('read');
  const whose = useWhose();
  useEffect(() => (mayRead ? followChanges(queryClient, whose) : undefined), [mayRead, whose]);
  useEffect(() => {
    if (problem === null) return;
    showFailure(appWords.signIn.failedAgain, problem);
    onShown();
  }, [problem, onShown]);
  return <RouterProvider router={router} />;
}
