/** The command palette: goes to a page, finds a context, a job or a role, and does what the navigation offers. */
import { useQuery } from '@tanstack/react-query';
import { Command } from 'cmdk';
import { useState } from 'react';
import { useMay } from '../../data/query/session.ts';
import { rolesQuery } from '../../data/query/workers.ts';
import { Dialog } from '../../ui/layout/dialog.tsx';
import { useSettled } from '../../ui/state/settled.ts';
import { Spinner } from '../../ui/state/spinner.tsx';
import { KeyHint } from '../../ui/text/key-hint.tsx';
import { paletteWords } from '../../words.ts';
import { contextsFoundQuery } from './found.ts';
import { useActions, useFound, usePages, type Entry } from './entries.tsx';
import css from './palette.module.css';

export function Palette({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const text = typed.trim();
  const sought = useSettled(text);
  const mayRead = useMay('read');
  const contexts = useQuery({ ...contextsFoundQuery(sought), enabled: mayRead });
  const roles = useQuery({ ...rolesQuery(), enabled: mayRead && text !== '' });
  const pages = matching(usePages(), text);
  const actions = matching(useActions(), text);
  // Those of an earlier text are not shown: Enter would open one of them.
  const isCurrent = sought === text && !contexts.isPlaceholderData;
  const found = useFound(text, { contexts: (isCurrent ? contexts.data : null) ?? [], roles: roles.data ?? [] });
  const groups = [
    { title: paletteWords.groups.pages, entries: pages },
    { title: paletteWords.groups.actions, entries: actions },
    { title: text === '' ? paletteWords.groups.recent : paletteWords.groups.found, entries: found },
  ].filter(({ entries }) => entries.length > 0);
  const run = ({ run: act }: Entry): void => {
    onClose();
    act();
  };
  return (
    <Dialog open onClose={onClose} title={paletteWords.title} wide>
      <Command label={paletteWords.title} shouldFilter={false} loop className={css.palette}>
        <Command.Input
          value={typed}
          onValueChange={setTyped}
          placeholder={paletteWords.placeholder}
          className={css.input}
          maxLength={200}
        />
        <Command.List label={paletteWords.title} className={css.list}>
          {groups.length === 0 && !contexts.isFetching && (
            <div className={css.empty} role="presentation">
              {paletteWords.none}
            </div>
          )}
          {groups.map(({ title, entries }) => (
            <Command.Group key={title} heading={title} className={css.group}>
              {entries.map((entry) => (
                <Command.Item key={entry.id} value={entry.id} onSelect={() => run(entry)} className={css.item}>
                  {entry.icon}
                  <span className={css.name}>{entry.name}</span>
                  {entry.about !== undefined && <span className={css.about}>{entry.about}</span>}
                  {entry.keys !== undefined && <KeyHint keys={entry.keys} />}
                </Command.Item>
              ))}
            </Command.Group>
          ))}
        </Command.List>
        <div className={css.state} aria-live="polite">
          {(contexts.isFetching || sought !== text) && <Spinner label={paletteWords.searching} />}
          {contexts.isError && !contexts.isFetching && <span className={css.about}>{paletteWords.failed}</span>}
        </div>
      </Command>
    </Dialog>
  );
}

/** Those that have all typed words, in the order in which they are given. */
function matching(entries: readonly Entry[], text: string): readonly Entry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return entries.filter(({ name, about = '' }) => {
    const own = `${name} ${about}`.toLowerCase();
    return words.every((word) => own.includes(word));
  });
}
