/** A value as a tree of JSON. Objects and lists open and close; long ones begin closed, and show some members at a time. */
import { useState } from 'react';
import { uiWords } from '../../words.ts';
import { Button } from '../forms/button.tsx';
import { CopyButton } from './copy-button.tsx';
import css from './json-tree.module.css';

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** Members of an object or a list that are shown at first, and with each press of a button. */
const AT_ONCE = 100;
/** Those with more members are closed at first, and so is what is deeper than two levels. */
const OPEN_MEMBERS = 20;
const OPEN_LEVELS = 2;

export function JsonTree({ value, label = uiWords.json }: { value: Json; label?: string }) {
  return (
    <div className={css.tree}>
      <div className={css.scroll} role="group" aria-label={label}>
        <Node name={null} value={value} level={0} />
      </div>
      <CopyButton read={() => JSON.stringify(value, null, 2)} className={css.copy} />
    </div>
  );
}

type NodeProps = { name: string | null; value: Json; level: number };

function Node({ name, value, level }: NodeProps) {
  const members = membersOf(value);
  if (members === null || members.length === 0)
    return (
      <div className={css.leaf}>
        <Name name={name} />
        <Leaf value={value} />
      </div>
    );
  return <Group name={name} members={members} isList={Array.isArray(value)} level={level} />;
}

type GroupProps = { name: string | null; members: readonly [string, Json][]; isList: boolean; level: number };

function Group({ name, members, isList, level }: GroupProps) {
  const [isOpen, setOpen] = useState(level < OPEN_LEVELS && members.length <= OPEN_MEMBERS);
  const [shown, setShown] = useState(AT_ONCE);
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <Name name={name} />
        <span className={css.count}>{isList ? uiWords.list(members.length) : uiWords.object(members.length)}</span>
      </summary>
      {isOpen && (
        <div className={css.members}>
          {members.slice(0, shown).map(([key, member]) => (
            <Node key={key} name={key} value={member} level={level + 1} />
          ))}
          {members.length > shown && (
            <Button size="small" variant="quiet" onClick={() => setShown(shown + AT_ONCE)}>
              {uiWords.moreMembers(members.length - shown)}
            </Button>
          )}
        </div>
      )}
    </details>
  );
}

function Name({ name }: { name: string | null }) {
  return name === null ? null : <span className={css.name}>{name}: </span>;
}

function Leaf({ value }: { value: Json }) {
  return (
    <span className={css.value} data-type={value === null ? 'null' : typeof value}>
      {JSON.stringify(value)}
    </span>
  );
}

/** Null: the value has none. */
function membersOf(value: Json): [string, Json][] | null {
  if (typeof value !== 'object' || value === null) return null;
  return Array.isArray(value) ? value.map((member, at) => [String(at), member]) : Object.entries(value);
}
