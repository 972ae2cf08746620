/** Error page for exceptions that a component of the console throws. */
import { Component, type ReactNode } from 'react';
import { ErrorState } from '../ui/state/error-state.tsx';
import { appWords } from '../words.ts';

type Props = { children: ReactNode };
type State = { error: unknown; failed: boolean };

export class ErrorBoundary extends Component<Props, State> {
  override state: State = { error: null, failed: false };

  static getDerivedStateFromError(error: unknown): State {
    return { error, failed: true };
  }

  override render(): ReactNode {
    return this.state.failed ? <Fault error={this.state.error} /> : this.props.children;
  }
}

export function Fault({ error }: { error: unknown }) {
  return <ErrorState title={appWords.pageFailed} error={error} onRetry={() => globalThis.location.reload()} />;
}
