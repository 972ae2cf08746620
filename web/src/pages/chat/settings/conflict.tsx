/** Shown if the settings were changed by someone else during editing: the user chooses which values to keep. */
import { useId, useState } from 'react';
import { Button } from '../../../ui/forms/button.tsx';
import { Dialog } from '../../../ui/layout/dialog.tsx';
import { contextSettingsWords } from '../../../words.ts';
import { labelOf, type Draft, type Member } from './draft.ts';
import { differences, show } from './merge.ts';
import css from './settings.module.css';

const words = contextSettingsWords.conflict;

export function Conflict({
  base,
  mine,
  theirs,
  onTake,
  onClose,
}: {
  base: Draft;
  mine: Draft;
  theirs: Draft;
  onTake: (keptMine: readonly Member[]) => void;
  onClose: () => void;
}) {
  const [kept, setKept] = useState<readonly Member[]>([]);
  const found = differences(base, mine, theirs);
  const clashing = found.filter(({ clash }) => clash);
  const others = found.filter(({ clash }) => !clash);
  return (
    <Dialog
      open
      onClose={onClose}
      wide
      title={words.title}
      description={words.about}
      actions={
        <>
          <Button onClick={onClose}>{words.back}</Button>
          <Button variant="primary" onClick={() => onTake(kept)}>
            {words.submit}
          </Button>
        </>
      }
    >
      {clashing.map(({ member }) => (
        <fieldset key={member} className={css.clash}>
          <legend>{labelOf(member)}</legend>
          <Version
            name={member}
            label={words.theirs}
            text={show(theirs, member)}
            checked={!kept.includes(member)}
            onChoose={() => setKept(kept.filter((one) => one !== member))}
          />
          <Version
            name={member}
            label={words.yours}
            text={show(mine, member)}
            checked={kept.includes(member)}
            onChoose={() => setKept([...kept, member])}
          />
        </fieldset>
      ))}
      {others.length > 0 && (
        <>
          <h3>{words.others}</h3>
          <dl className={css.taken}>
            {others.map(({ member }) => (
              <div key={member}>
                <dt>{labelOf(member)}</dt>
                <dd>
                  <del>{show(base, member)}</del> → <ins>{show(theirs, member)}</ins>
                </dd>
              </div>
            ))}
          </dl>
        </>
      )}
      {found.length === 0 && <p>{words.unchanged}</p>}
    </Dialog>
  );
}

function Version({
  name,
  label,
  text,
  checked,
  onChoose,
}: {
  name: string;
  label: string;
  text: string;
  checked: boolean;
  onChoose: () => void;
}) {
  const id = useId();
  return (
    <div className={css.version}>
      <input id={id} type="radio" name={`of-${name}`} checked={checked} onChange={onChoose} />
      <label htmlFor={id}>
        <strong>{label}</strong>
        <span className={css.shown}>{text}</span>
      </label>
    </div>
  );
}
