/**
 * A secret that was just made, shown once. It is kept outside of pages, because making or rotating a key may end the
 * session, and with it the page. It is gone when the dialog is closed, and in no cache of queries or mutations.
 */
import { useSyncExternalStore } from 'react';
import { Button } from '../forms/button.tsx';
import { CopyButton } from '../text/copy-button.tsx';
import { Dialog } from './dialog.tsx';
import { uiWords, type SecretKind } from '../../words.ts';
import css from './secret-dialog.module.css';

export type Secret = {
  title: string;
  what: SecretKind;
  about: string;
  secret: string;
};

let shown: Secret | null = null;
const listeners = new Set<() => void>();

function change(next: Secret | null): void {
  shown = next;
  for (const notify of listeners) notify();
}

export function showSecret(secret: Secret): void {
  change(secret);
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Once, outside of what a sign-out removes. */
export function SecretDialog() {
  const known = useSyncExternalStore(listen, () => shown);
  if (known === null) return null;
  const { title, what, about, secret } = known;
  const close = (): void => change(null);
  return (
    <Dialog
      open
      onClose={close}
      title={title}
      description={uiWords.secret.about(what, about)}
      closesBy="buttons"
      actions={
        <Button variant="primary" onClick={close}>
          {uiWords.secret.done}
        </Button>
      }
    >
      <div className={css.secret}>
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard */}
        <code tabIndex={0} role="region" aria-label={uiWords.secret.region(what)}>
          {secret}
        </code>
        <CopyButton label={uiWords.secret.copy(what)} read={() => secret} />
      </div>
    </Dialog>
  );
}
