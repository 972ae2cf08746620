/** An answer of the model, complete or partial: thinking folded, text as Markdown, tool calls as cards. */
import { Brain, CodeXml, Type } from 'lucide-react';
import { memo, useDeferredValue } from 'react';
import type { ContentBlock, Context, PartialMessage, Message } from 'nightshift/client';
import { Badge } from '../../../ui/text/badge.tsx';
import { IconButton } from '../../../ui/forms/button.tsx';
import { classes } from '../../../ui/classes.ts';
import { Markdown } from '../../../ui/text/markdown.tsx';
import { RelativeTime } from '../../../ui/text/time.tsx';
import { Tokens } from '../../../ui/text/tokens.tsx';
import { FileBlock } from '../../../message-content/file-block.tsx';
import { messageWords } from '../../../words.ts';
import css from '../bubbles.module.css';
import { MessageActions } from './message-actions.tsx';
import { raw, unfolded } from './marks.ts';
import type { CallResult } from './rows.ts';
import { RetractedMark } from './retracted-mark.tsx';
import { ToolCard } from './tool-card.tsx';

type Props = {
  message: Message;
  results: ReadonlyMap<string, CallResult>;
  context: Context;
};

export function AnswerBubble({ message, results, context }: Props) {
  const { usage, model_id, finish_reason } = message;
  const isRaw = raw.useIsSet(message.id);
  return (
    <article
      className={classes(css.row, css.answer, message.status === 'retracted' && css.retracted)}
      aria-label={labelOf(message)}
      data-message={message.id}
    >
      {message.content.map((block, at) => (
        <Block key={at} at={at} block={block} message={message} results={results} context={context} isRaw={isRaw} />
      ))}
      <footer className={css.foot}>
        <RetractedMark message={message} />
        {message.status !== 'retracted' && <RelativeTime at={message.completed_at ?? message.created_at} />}
        {model_id !== null && <span>{model_id}</span>}
        {usage !== null && <Tokens usage={usage} />}
        {finish_reason === 'max_tokens' && <Badge tone="amber">{messageWords.truncated}</Badge>}
        {message.content.some(({ type }) => type === 'text' || type === 'thinking') && (
          <IconButton
            label={isRaw ? messageWords.showRendered : messageWords.showRaw}
            size="small"
            aria-pressed={isRaw}
            onClick={() => raw.set(message.id, !isRaw)}
          >
            {isRaw ? <Type /> : <CodeXml />}
          </IconButton>
        )}
        <MessageActions context={context} message={message} />
      </footer>
    </article>
  );
}

function labelOf({ type, status }: Message): string {
  if (status === 'retracted') return messageWords.retracted.answer;
  return type === 'plan' ? messageWords.plan : messageWords.answer;
}

/** `at`: index of the block in its message. */
type BlockProps = Props & { at: number; block: ContentBlock; isRaw: boolean };

function Block({ at, block, message, results, context, isRaw }: BlockProps) {
  switch (block.type) {
    case 'text':
      if (block.text.trim() === '') return null;
      return (
        <div className={css.bubble}>
          {message.type === 'plan' && (
            <span className={css.sort}>
              <Badge tone="accent">{messageWords.plan}</Badge>
            </span>
          )}
          <Written text={block.text} isRaw={isRaw} />
        </div>
      );
    case 'thinking':
      return <Thinking id={thoughtId(message.id, at)} text={block.text} isRaw={isRaw} />;
    case 'tool_use':
      return <ToolCard context={context} message={message} block={block} result={results.get(block.id)} />;
    case 'tool_result':
      return null;
    case 'image':
    case 'document':
      return (
        <div className={css.bubble}>
          <FileBlock block={block} />
        </div>
      );
  }
}

function Written({ text, isRaw }: { text: string; isRaw: boolean }) {
  return isRaw ? <pre className={css.raw}>{text}</pre> : <Markdown text={text} />;
}

const thoughtId = (messageId: string, at: number): string => `${messageId}/${at}`;

/**
 * Folded by default. It stays open when the answer completes, and after the list has unmounted it. A click opens it at
 * once; `toggle` comes later, when the row may have been mounted again, and tells what the browser opens by itself, such
 * as to show what it has found.
 */
const Thinking = memo(function Thinking({
  id,
  text,
  isLive = false,
  isRaw = false,
}: {
  id: string;
  text: string;
  isLive?: boolean;
  isRaw?: boolean;
}) {
  const isOpen = unfolded.useIsSet(id);
  if (text.trim() === '') return null;
  return (
    <details
      className={css.thinking}
      open={isOpen}
      onToggle={({ currentTarget }) => unfolded.set(id, currentTarget.open)}
    >
      <summary
        onClick={(event) => {
          event.preventDefault();
          unfolded.set(id, !isOpen);
        }}
      >
        <Brain aria-hidden="true" /> {isLive ? messageWords.thinking : messageWords.thought}
      </summary>
      <div className={css.thought}>
        <Written text={text} isRaw={isRaw} />
      </div>
    </details>
  );
});

/** A partial message. Screen readers announce it when it is complete. */
export function PartialBubble({ partial }: { partial: PartialMessage }) {
  // Rendering of long texts has a low priority.
  const text = useDeferredValue(partial.text);
  return (
    <article
      className={classes(css.row, css.answer)}
      aria-label={messageWords.partial}
      data-partial={partial.message_id}
    >
      <Thinking id={thoughtId(partial.message_id, 0)} text={partial.thinking} isLive={partial.text === ''} />
      {partial.text !== '' && (
        <div className={classes(css.bubble, css.live)}>
          <Markdown text={text} />
        </div>
      )}
    </article>
  );
}
