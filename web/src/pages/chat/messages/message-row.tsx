/** One row of the list. Unchanged rows are not rendered again. */
import { memo } from 'react';
import type { Context, Message } from 'nightshift/client';
import { AnswerBubble, PartialBubble } from './answer-bubble.tsx';
import { CompactionMark } from './compaction-mark.tsx';
import { InputBubble } from './input-bubble.tsx';
import { useTimeFormat } from '../../../ui/text/time-format.ts';
import { classes } from '../../../ui/classes.ts';
import css from '../bubbles.module.css';
import type { CallResult, Row } from './rows.ts';
import { ToolResultCard } from './tool-card.tsx';

type Props = { row: Row; context: Context; isSought: boolean };

export const MessageRow = memo(
  function MessageRow({ row, context, isSought }: Props) {
    return isSought ? (
      <div className={css.sought}>
        <Shown row={row} context={context} />
      </div>
    ) : (
      <Shown row={row} context={context} />
    );
  },
  (before, after) =>
    before.context === after.context && before.isSought === after.isSought && isSame(before.row, after.row),
);

function Shown({ row, context }: Omit<Props, 'isSought'>) {
  const format = useTimeFormat();
  switch (row.kind) {
    case 'compaction':
      return (
        <div className={css.row}>
          <CompactionMark context={context} compaction={row.compaction} />
        </div>
      );
    case 'day':
      return (
        <div className={css.row}>
          <div className={css.day} role="separator" aria-label={format(Date.parse(row.at), 'day')}>
            <span aria-hidden="true">{format(Date.parse(row.at), 'day')}</span>
          </div>
        </div>
      );
    case 'partial':
      return <PartialBubble partial={row.partial} />;
    case 'message':
      return <StoredRow message={row.message} results={row.results} context={context} />;
  }
}

type StoredRowProps = {
  message: Message;
  results: ReadonlyMap<string, CallResult>;
  context: Context;
};

function StoredRow({ message, results, context }: StoredRowProps) {
  switch (message.role) {
    case 'user':
      return <InputBubble message={message} context={context} />;
    case 'assistant':
      return <AnswerBubble message={message} results={results} context={context} />;
    case 'system':
      return <Note message={message} />;
    case 'tool':
      return (
        <div className={classes(css.row, message.status === 'retracted' && css.retracted)}>
          {message.content.map(
            (block) => block.type === 'tool_result' && <ToolResultCard key={block.tool_use_id} block={block} />,
          )}
        </div>
      );
  }
}

/** A system message. */
function Note({ message }: { message: Message }) {
  return (
    <div className={css.row}>
      <p className={css.note} role="note">
        {message.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')}
      </p>
    </div>
  );
}

function isSame(one: Row, other: Row): boolean {
  if (one.kind === 'partial') return other.kind === 'partial' && one.partial === other.partial;
  if (one.kind === 'compaction') return other.kind === 'compaction' && one.compaction === other.compaction;
  if (one.kind === 'day') return other.kind === 'day' && one.at === other.at;
  if (other.kind !== 'message' || one.message !== other.message) return false;
  return one.message.content.every(
    (block) => block.type !== 'tool_use' || one.results.get(block.id)?.block === other.results.get(block.id)?.block,
  );
}
