/**
 * Marks a compaction in the history: the model receives the messages above in a shorter form. Expands to the originals.
 */
import { useInfiniteQuery } from '@tanstack/react-query';
import { ChevronRight, FoldVertical } from 'lucide-react';
import type { ContentBlock, Context, ContextCompaction, Message } from 'nightshift/client';
import { useId, type ReactNode } from 'react';
import { compactedQuery } from '../../../data/query/contexts.ts';
import { textOf } from '../../../data/format.ts';
import { allOf } from '../../../data/query/pages-of.ts';
import { Button } from '../../../ui/forms/button.tsx';
import { ErrorState } from '../../../ui/state/error-state.tsx';
import { Json } from '../../../ui/text/json.tsx';
import { Markdown } from '../../../ui/text/markdown.tsx';
import { Skeleton } from '../../../ui/layout/skeleton.tsx';
import { RelativeTime } from '../../../ui/text/time.tsx';
import { Sentence } from '../../../ui/text/sentence.tsx';
import { commonWords, compactionWords } from '../../../words.ts';
import { unfolded } from './marks.ts';
import css from '../compactions/compaction-mark.module.css';

const words = compactionWords;

export type CompactionMarkProps = {
  context: Context;
  compaction: ContextCompaction;
  children?: (message: Message) => ReactNode;
};

/** `children` renders a replaced message; by default its content blocks are rendered. */
export function CompactionMark({ context, compaction, children }: CompactionMarkProps) {
  const isOpen = unfolded.useIsSet(compaction.id);
  const contentId = useId();
  const { type, tokens_before: before, tokens_after: after } = compaction;
  const replaced = useInfiniteQuery({
    ...compactedQuery(context.id, context.active_branch),
    enabled: type === 'llm',
    staleTime: Infinity,
  });
  const messages = allOf(replaced.data).filter(({ compacted }) => compacted);
  return (
    <section className={css.mark} aria-label={words.label}>
      <button
        type="button"
        className={css.line}
        aria-expanded={isOpen}
        aria-controls={contentId}
        onClick={() => unfolded.set(compaction.id, !isOpen)}
      >
        <FoldVertical aria-hidden="true" />
        <span>{words.tokens(compactionText(type, messages.length, replaced.hasNextPage), before, after)}</span>
        <ChevronRight aria-hidden="true" className={css.twisty} />
      </button>
      <div id={contentId} hidden={!isOpen} className={css.content}>
        {isOpen && type === 'threshold' && <p className={css.note}>{words.aboutToolResults}</p>}
        {isOpen && type === 'llm' && (
          <>
            <Summary compaction={compaction} />
            {replaced.isPending && <Skeleton />}
            {replaced.isError && <ErrorState error={replaced.error} onRetry={() => void replaced.refetch()} />}
            {messages.map((message) => (
              <div key={message.id}>{children?.(message) ?? <Replaced message={message} />}</div>
            ))}
            {replaced.hasNextPage && messages.length > 0 && (
              <Button size="small" busy={replaced.isFetchingNextPage} onClick={() => void replaced.fetchNextPage()}>
                {commonWords.showMore}
              </Button>
            )}
          </>
        )}
      </div>
    </section>
  );
}

function compactionText(type: ContextCompaction['type'], count: number, isMore: boolean): string {
  if (type === 'threshold') return words.toolResults;
  if (count === 0) return words.olderMessages;
  return words.messages(count, isMore);
}

function Summary({ compaction: { summary, model, created_at } }: { compaction: ContextCompaction }) {
  if (summary === null) return null;
  const when = <RelativeTime at={created_at} />;
  return (
    <div className={css.summary}>
      <p className={css.note}>
        {model === null ? (
          <Sentence text={words.summaryAbout} gaps={{ when }} />
        ) : (
          <Sentence text={words.summaryBy} gaps={{ model, when }} />
        )}
      </p>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard */}
      <div className={css.scroll} tabIndex={0} role="region" aria-label={words.summary}>
        <Markdown text={summary} />
      </div>
    </div>
  );
}

function Replaced({ message }: { message: Message }) {
  const { role, turn, content } = message;
  return (
    <article className={css.replaced}>
      <p className={css.note}>{turn === null ? role : `${role} · ${turn}`}</p>
      {content.map((block, place) => (
        // oxlint-disable-next-line react/no-array-index-key -- the content of a message does not change
        <ReplacedBlock key={place} block={block} />
      ))}
    </article>
  );
}

function ReplacedBlock({ block }: { block: ContentBlock }) {
  switch (block.type) {
    case 'text':
      return <Markdown text={block.text} />;
    case 'tool_use':
      return (
        <>
          <p className={css.note}>
            <Sentence text={words.calls} gaps={{ tool: <code>{block.name}</code> }} />
          </p>
          <Json value={block.input} label={words.argumentsOf(block.name)} most={160} />
        </>
      );
    case 'tool_result':
      return (
        <>
          <p className={css.note}>{block.is_error ? words.callFailed : words.result}</p>
          <Json
            value={typeof block.content === 'string' ? block.content : textOf({ content: block.content })}
            label={words.result}
            most={160}
          />
        </>
      );
    case 'thinking':
    case 'image':
    case 'document':
      return <p className={css.note}>({block.type})</p>;
  }
}
