import { Dialog } from '../ui/layout/dialog.tsx';
import { hideHelp, useHelpShown } from '../ui/forms/help.ts';
import { KeyHint } from '../ui/text/key-hint.tsx';
import { usePlaces } from './places.ts';
import css from './shortcut-help.module.css';

const KEYS = [
  { keys: '/', does: 'Search' },
  { keys: 'j', does: 'Next call that waits, in the inbox or a chat' },
  { keys: 'k', does: 'Previous call that waits' },
  { keys: 'a', does: 'Approve the focused call' },
  { keys: 'd', does: 'Deny the focused call, with a reason' },
  { keys: 'e', does: 'Edit the arguments of the focused call' },
  { keys: 'u', does: 'Undo the decision, for three seconds' },
  { keys: 'c', does: 'Write a message' },
  { keys: 'Enter', does: 'Send the message' },
  { keys: 'Shift+Enter', does: 'New line' },
  { keys: 'Alt+↑', does: 'Move a queued input up (Alt+↓: down)' },
  { keys: 'Esc', does: 'Close the dialog or menu; leave the message, or stop the answer' },
  { keys: 'b', does: 'Collapse or expand the sidebar' },
  { keys: '?', does: 'Show keyboard shortcuts' },
];

export function ShortcutHelp() {
  const places = usePlaces()
    .filter(({ key }) => key !== '/')
    .map(({ name, key }) => ({ keys: `g ${key}`, does: `Go to ${name}` }));
  return (
    <Dialog open={useHelpShown()} onClose={hideHelp} title="Keyboard shortcuts">
      <dl className={css.list}>
        {[...places, ...KEYS].map(({ keys, does }) => (
          <div key={keys} className={css.row}>
            <dt>{does}</dt>
            <dd>
              <KeyHint keys={keys} />
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
