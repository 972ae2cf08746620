/** The messages of a prompt. `firstDifferent`: the index of the first one that differs from the request before. */
import type { Json as JsonValue, SentPrompt } from 'nightshift/client';
import { classes } from '../../../ui/classes.ts';
import { LongList } from '../../../ui/layout/long-list.tsx';
import { Badge } from '../../../ui/text/badge.tsx';
import { CodeBlock } from '../../../ui/text/code-block.tsx';
import { Json } from '../../../ui/text/json.tsx';
import { jobWords } from '../../../words.ts';
import css from './prompt.module.css';

const words = jobWords.prompt;

type Sent = NonNullable<SentPrompt['messages']>[number];
type Block = { [key: string]: JsonValue };

const MOST = 240;

type Props = { messages: readonly Sent[]; firstDifferent: number | null };

export function SentMessages({ messages, firstDifferent }: Props) {
  return (
    <LongList ordered className={css.messages} items={messages} itemKey={keyOf}>
      {({ role, content }, place, index) => (
        <li key={index} {...place} className={classes(css.message, index === firstDifferent && css.differs)}>
          <h3>
            {words.message(index, role)}
            {index === firstDifferent && <Badge tone="amber">{words.differs}</Badge>}
          </h3>
          <LongList className={css.blocks} items={content} itemKey={keyOf}>
            {(block, placeOfBlock, at) => (
              <li key={at} {...placeOfBlock}>
                <Content block={block} />
              </li>
            )}
          </LongList>
        </li>
      )}
    </LongList>
  );
}

const keyOf = (_: unknown, index: number): string => String(index);

function Content({ block }: { block: Block }) {
  const { type, text } = block;
  return type === 'text' && typeof text === 'string' ? (
    <CodeBlock label={words.text} wrap most={MOST}>
      {text}
    </CodeBlock>
  ) : (
    <Json value={block} label={typeof type === 'string' ? type : words.text} most={MOST} />
  );
}
