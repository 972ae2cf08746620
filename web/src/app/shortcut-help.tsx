import { Dialog } from '../ui/layout/dialog.tsx';
import { hideHelp, useHelpShown } from '../ui/forms/help.ts';
import { KeyHint } from '../ui/text/key-hint.tsx';
import { usePlaces } from './places.ts';
import { appWords } from '../words.ts';
import css from './shortcut-help.module.css';

const words = appWords.shortcuts;

const KEYS = [
  { keys: '/', does: words.search },
  { keys: 'j', does: words.next },
  { keys: 'k', does: words.previous },
  { keys: 'x', does: words.select },
  { keys: 'r', does: words.retry },
  { keys: 'a', does: words.approve },
  { keys: 'd', does: words.deny },
  { keys: 'e', does: words.edit },
  { keys: 'u', does: words.undo },
  { keys: 'c', does: words.write },
  { keys: 't', does: words.jump },
  { keys: words.keys.enter, does: words.send },
  { keys: words.keys.shiftEnter, does: words.newLine },
  { keys: words.keys.altUp, does: words.moveUp },
  { keys: words.keys.escape, does: words.close },
  { keys: 'b', does: words.turnSidebar },
  { keys: words.keys.palette, does: words.palette },
  { keys: '?', does: words.show },
];

export function ShortcutHelp() {
  const places = usePlaces()
    .filter(({ key }) => key !== '/')
    .map(({ name, key }) => ({ keys: words.keys.go(key), does: words.goTo(name) }));
  return (
    <Dialog open={useHelpShown()} onClose={hideHelp} title={words.title}>
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
