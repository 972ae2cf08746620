/**
 * One prompt, in the order in which providers match it with their cache: model, tools, system prompt, messages. The part
 * that differs from the request before is marked.
 */
import type { PrefixPart, SentPrompt, SentTool, Usage } from 'nightshift/client';
import type { ReactNode } from 'react';
import { Badge } from '../../../ui/text/badge.tsx';
import { CodeBlock } from '../../../ui/text/code-block.tsx';
import { Json } from '../../../ui/text/json.tsx';
import { formatFull } from '../../../ui/text/tokens.tsx';
import { jobWords, timelineWords } from '../../../words.ts';
import { Fact } from '../fact.tsx';
import css from '../job.module.css';
import { Section } from './section.tsx';
import { SentMessages } from './sent-messages.tsx';
import styles from './prompt.module.css';

const words = jobWords.prompt;

/** Longer texts scroll within this height, in pixels. */
const MOST = 360;

export function PromptView({ prompt, usage }: { prompt: SentPrompt; usage: Usage | null }) {
  const { system, pinned, tools, messages, output_schema: schema, parameters, prefix } = prompt;
  const lost = prefix?.lost_at ?? null;
  const isLostAt = (part: PrefixPart): boolean => lost === part;
  return (
    <>
      <Notices prompt={prompt} />
      <Numbers prompt={prompt} usage={usage} isOtherModel={isLostAt('model')} />
      <Section title={words.parameters} differs={false} isOpen={false}>
        <Json value={parameters} label={words.parameters} most={MOST} />
      </Section>
      <Section title={words.tools(tools?.length ?? 0)} differs={isLostAt('tools')} isOpen={false}>
        {tools === null ? <p className={css.soft}>{words.toolsGone}</p> : <Tools tools={tools} />}
      </Section>
      <Section title={words.system} differs={isLostAt('system')}>
        <Text label={words.system}>{system}</Text>
      </Section>
      {pinned !== '' && (
        <Section title={words.pinned} differs={isLostAt('system')}>
          <Text label={words.pinned}>{pinned}</Text>
        </Section>
      )}
      {schema !== null && (
        <Section title={words.schema} differs={isLostAt('system')} isOpen={false}>
          <Json value={schema} label={words.schema} most={MOST} />
        </Section>
      )}
      <Section
        title={words.messages(messages?.length ?? 0)}
        differs={isLostAt('messages') && (prefix?.message ?? null) === null}
      >
        {messages === null ? (
          <p className={css.soft}>{words.messagesGone}</p>
        ) : (
          <SentMessages messages={messages} firstDifferent={prefix?.message ?? null} />
        )}
      </Section>
    </>
  );
}

function Notices({ prompt: { exact, differs, prefix } }: { prompt: SentPrompt }) {
  return (
    <ul className={styles.notices}>
      <li>
        <Badge tone={exact ? 'green' : 'amber'}>{exact ? words.exact : words.notExact}</Badge>{' '}
        {exact ? words.exactAbout : timelineWords.prompt.changed(differs)}
      </li>
      <li>{prefix === null ? words.noPrefix : <Prefix prefix={prefix} />}</li>
    </ul>
  );
}

function Prefix({ prefix: { lost_at: lost, message } }: { prefix: NonNullable<SentPrompt['prefix']> }) {
  if (lost === null) return <>{words.continues}</>;
  return (
    <>
      {timelineWords.prompt.cacheLost(lost)}
      {message !== null && ` ${timelineWords.prompt.firstDifferent(message)}`}
    </>
  );
}

type NumbersProps = { prompt: SentPrompt; usage: Usage | null; isOtherModel: boolean };

function Numbers({ prompt, usage, isOtherModel }: NumbersProps) {
  const { model, attempt, max_tokens: maxTokens, streaming } = prompt;
  const tokens = (count: number | undefined): ReactNode =>
    count === undefined ? words.notKnown : words.tokens(formatFull(count));
  return (
    <dl className={css.facts}>
      <Fact name={words.model}>
        {model} {isOtherModel && <Badge tone="amber">{words.otherModel}</Badge>}
      </Fact>
      <Fact name={words.attempt}>{attempt}</Fact>
      <Fact name={words.maxTokens}>{maxTokens === null ? words.default : words.tokens(formatFull(maxTokens))}</Fact>
      <Fact name={words.streaming}>{streaming ? words.on : words.off}</Fact>
      <Fact name={words.cacheRead}>{tokens(usage?.cache_read_tokens)}</Fact>
      <Fact name={words.cacheWrite}>{tokens(usage?.cache_write_tokens)}</Fact>
    </dl>
  );
}

function Tools({ tools }: { tools: readonly SentTool[] }) {
  return (
    <div className={styles.tools}>
      {tools.map(({ name, description, input_schema: schema }) => (
        <details key={name}>
          <summary>
            <code>{name}</code>
          </summary>
          <p className={css.soft}>{description}</p>
          <Json value={schema} label={name} most={MOST} />
        </details>
      ))}
    </div>
  );
}

function Text({ label, children }: { label: string; children: string }) {
  if (children === '') return <p className={css.soft}>{words.nothing}</p>;
  return (
    <CodeBlock label={label} wrap most={MOST}>
      {children}
    </CodeBlock>
  );
}
