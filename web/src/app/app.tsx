/** Root component: query cache, sign-in and router. */
import { QueryClientProvider, useQuery } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { makeQueryClient } from '../data/query/query-client.ts';
import { sessionQuery } from '../data/query/session.ts';
import { ErrorState } from '../ui/state/error-state.tsx';
import { Spinner } from '../ui/state/spinner.tsx';
import { SecretDialog } from '../ui/layout/secret-dialog.tsx';
import { Toaster } from '../ui/layout/toaster.tsx';
import { TooltipProvider } from '../ui/layout/tooltip.tsx';
import css from './app.module.css';
import { ErrorBoundary } from './error-boundary.tsx';
import { router } from './router.tsx';
import { SignIn } from './sign-in.tsx';

const queryClient = makeQueryClient();

export function App() {
  return (
    <ErrorBoundary>
      <QueryClientProvider client={queryClient}>
        <TooltipProvider>
          <SignInGuard />
          <Toaster />
          <SecretDialog />
        </TooltipProvider>
      </QueryClientProvider>
    </ErrorBoundary>
  );
}

/** Sends no other request until the session query shows whether an API key is needed. */
function SignInGuard() {
  const session = useQuery(sessionQuery());
  if (session.data !== undefined) return session.data.signed_in ? <RouterProvider router={router} /> : <SignIn />;
  return (
    <main className={css.middle}>
      {session.isError ? (
        <ErrorState
          title="Nightshift cannot be reached"
          error={session.error}
          onRetry={() => void session.refetch()}
          busy={session.isFetching}
        />
      ) : (
        <Spinner label="Loading" />
      )}
    </main>
  );
}
