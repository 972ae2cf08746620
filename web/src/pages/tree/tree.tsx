/**
 * The rows of a tree: Tab reaches one of them, arrow keys move between them and open and close them. Parts that a
 * truncated answer lacks are fetched when their row is opened, and dropped when it is closed.
 */
import { useQueries } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ChevronRight, Ellipsis, Unlink } from 'lucide-react';
import { useState, type KeyboardEvent } from 'react';
import type { WorkerTree } from 'nightshift/client';
import { treeQuery } from '../../data/query/workers.ts';
import { classes } from '../../ui/classes.ts';
import { Space } from '../../ui/layout/long-list.tsx';
import { useRowWindow } from '../../ui/layout/row-window.ts';
import { StatusBadge } from '../../ui/text/status-badge.tsx';
import { Duration } from '../../ui/text/time.tsx';
import { Tokens } from '../../ui/text/tokens.tsx';
import { Tooltip } from '../../ui/layout/tooltip.tsx';
import { deepestOf, rowsOf, type Row } from './rows.ts';
import { treeWords } from '../../words.ts';
import css from './tree.module.css';

/** Maximum number of separately fetched subtrees; the oldest is dropped first. */
const MOST_APART = 5;

export function Tree({
  top,
  selected,
  onSelect,
}: {
  top: WorkerTree;
  selected: string;
  onSelect: (id: string) => void;
}) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [apart, setApart] = useState<readonly string[]>([]);
  const loaded = useQueries({
    queries: apart.map((id) => treeQuery(id)),
    combine: (answers) => new Map(answers.flatMap(({ data }) => (data === undefined ? [] : [[data.id, data]]))),
  });
  const navigate = useNavigate();
  const rows = rowsOf(top, closed, deepestOf(top), loaded);
  // If the selected worker is gone, keys start from the first row.
  const at = Math.max(
    0,
    rows.findIndex(({ node }) => node.id === selected),
  );

  const { list, part, show } = useRowWindow<HTMLUListElement>(rows.length);
  const shown = rows.slice(part.first, part.first + part.count);
  // Tab reaches the first row of the part where the selected one is not in the document.
  const entered = Math.max(part.first, Math.min(at, part.first + shown.length - 1)) === at ? at : part.first;
  const go = (row: Row | undefined): void => {
    if (row === undefined) return;
    show(rows.indexOf(row));
    onSelect(row.node.id);
    list.current?.querySelector<HTMLElement>(`[data-row="${row.node.id}"]`)?.focus();
  };
  const open = (id: string): void => setClosed(new Set([...closed].filter((one) => one !== id)));
  const close = (id: string): void => {
    setClosed(new Set([...closed, id]));
    setApart(apart.filter((one) => one !== id));
  };
  const load = (id: string): void => setApart([...apart.filter((one) => one !== id), id].slice(-MOST_APART));
  const turn = ({ node, below }: Row): void => {
    if (below === 'open') close(node.id);
    if (below === 'closed') open(node.id);
    if (below === 'unknown') load(node.id);
  };
  const press = (event: KeyboardEvent): void => {
    // The row with the focus: the selection follows it, but may be rendered later.
    const focused =
      event.target instanceof Element ? event.target.closest<HTMLElement>('[data-row]')?.dataset['row'] : null;
    const index = rows.findIndex(({ node }) => node.id === focused);
    const row = rows[index];
    if (row === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const found = keyOf(event.key, row, rows, index);
    if (found === null) return;
    event.preventDefault();
    if (found.kind === 'go') go(found.to);
    if (found.kind === 'turn') turn(row);
    if (found.kind === 'enter')
      void navigate({ to: '/contexts/$contextId', params: { contextId: row.node.context_id } });
  };
  return (
    <ul ref={list} role="tree" aria-label={treeWords.tree} className={css.tree} onKeyDown={press}>
      <Space height={part.before} />
      {shown.map((row, index) => (
        <TreeRow
          key={row.node.id}
          row={row}
          isSelected={part.first + index === at}
          isEntered={part.first + index === entered}
          onSelect={() => go(row)}
          onTurn={() => turn(row)}
        />
      ))}
      <Space height={part.after} />
    </ul>
  );
}

type Key = { kind: 'go'; to: Row | undefined } | { kind: 'turn' } | { kind: 'enter' };

/** Keys of a tree view: left closes or moves to the parent, right opens or moves to the first child. */
function keyOf(key: string, row: Row, rows: readonly Row[], at: number): Key | null {
  switch (key) {
    case 'ArrowDown':
      return { kind: 'go', to: rows[at + 1] };
    case 'ArrowUp':
      return { kind: 'go', to: rows[at - 1] };
    case 'Home':
      return { kind: 'go', to: rows[0] };
    case 'End':
      return { kind: 'go', to: rows.at(-1) };
    case 'ArrowRight':
      if (row.below === 'open') return { kind: 'go', to: rows[at + 1] };
      return row.below === 'none' ? null : { kind: 'turn' };
    case 'ArrowLeft':
      if (row.below === 'open') return { kind: 'turn' };
      return { kind: 'go', to: rows.find(({ node }) => node.id === row.parentId) };
    case ' ':
      return { kind: 'turn' };
    case 'Enter':
      return { kind: 'enter' };
    default:
      return null;
  }
}

function TreeRow({
  row,
  isSelected,
  isEntered,
  onSelect,
  onTurn,
}: {
  row: Row;
  isSelected: boolean;
  isEntered: boolean;
  onSelect: () => void;
  onTurn: () => void;
}) {
  const { node, level, position, siblings, below } = row;
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the tree handles the keys
    <li
      role="treeitem"
      aria-level={level}
      aria-posinset={position}
      aria-setsize={siblings}
      aria-selected={isSelected}
      {...(below === 'none' ? {} : { 'aria-expanded': below !== 'closed' && node.children.length > 0 })}
      tabIndex={isEntered ? 0 : -1}
      data-row={node.id}
      className={css.row}
      style={{ ['--level' as string]: level - 1 }}
      onClick={onSelect}
    >
      {/* oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions -- for the mouse; the arrow keys do the same */}
      <span
        className={classes(css.twisty, below === 'open' && css.turned)}
        aria-hidden="true"
        onClick={below === 'none' ? undefined : onTurn}
      >
        {below === 'unknown' ? <Ellipsis /> : below !== 'none' && <ChevronRight />}
      </span>
      <span className={css.name}>{node.name}</span>
      {node.detached && (
        <Tooltip text={treeWords.detachedAbout}>
          <Unlink className={css.mark} aria-label={treeWords.detached} />
        </Tooltip>
      )}
      <StatusBadge status={node.state} />
      <span className={css.facts}>
        {node.job?.started_at != null && (
          <span>
            <Duration from={node.job.started_at} to={node.job.finished_at} />
          </span>
        )}
        <Tokens usage={node.usage} />
      </span>
    </li>
  );
}
