import { Button } from '../forms/button.tsx';
import { CopyButton } from '../text/copy-button.tsx';
import { Dialog } from './dialog.tsx';
import css from './secret-dialog.module.css';

/** Shows a secret once. It is only in the state of the page that renders this, and gone when the dialog is closed. */
export function SecretDialog({
  title,
  what,
  about,
  secret,
  onClose,
}: {
  title: string;
  /** What the secret is: “key”, “secret”. */
  what: string;
  about: string;
  secret: string;
  onClose: () => void;
}) {
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      description={`Copy the ${what} now: it is not shown again. ${about}`}
      staysOnOutsideClick
      actions={
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <div className={css.secret}>
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard */}
        <code tabIndex={0} role="region" aria-label={`The ${what}`}>
          {secret}
        </code>
        <CopyButton label={`Copy the ${what}`} read={() => secret} />
      </div>
    </Dialog>
  );
}
