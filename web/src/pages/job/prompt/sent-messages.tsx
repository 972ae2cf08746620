/** The messages of a prompt. `firstDifferent`: the index of the first one that differs from the request before. */
import type { Json as JsonValue, SentPrompt } from 'nightshift/client';
import { useState } from 'react';
import { classes } from '../../../ui/classes.ts';
import { Button } from '../../../ui/forms/button.tsx';
import { Badge } from '../../../ui/text/badge.tsx';
import { CodeBlock } from '../../../ui/text/code-block.tsx';
import { Json } from '../../../ui/text/json.tsx';
import { jobWords } from '../../../words.ts';
import css from './prompt.module.css';

const words = jobWords.prompt;

type Sent = NonNullable<SentPrompt['messages']>[number];
type Block = { [key: string]: JsonValue };

/** Messages that are shown at first, and with each press of a button. */
const AT_ONCE = 100;
const MOST = 240;

type Props = { messages: readonly Sent[]; firstDifferent: number | null };

export function SentMessages({ messages, firstDifferent }: Props) {
  const [shown, setShown] = useState(Math.max(AT_ONCE, (firstDifferent ?? 0) + 1));
  return (
    <>
      <ol className={css.messages}>
        {messages.slice(0, shown).map(({ role, content }, index) => (
          <li key={index} className={classes(css.message, index === firstDifferent && css.differs)}>
            <h3>
              {words.message(index, role)}
              {index === firstDifferent && <Badge tone="amber">{words.differs}</Badge>}
            </h3>
            {content.map((block, at) => (
              <Content key={at} block={block} />
            ))}
          </li>
        ))}
      </ol>
      {messages.length > shown && (
        <Button onClick={() => setShown(shown + AT_ONCE)}>{words.more(messages.length - shown)}</Button>
      )}
    </>
  );
}

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
