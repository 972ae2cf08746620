/**
 * Builds a prompt that every provider accepts from stored history. System text is separate; `user` and `assistant`
 * messages alternate, starting with `user`. Every `tool_use` is answered by exactly one `tool_result` in the next
 * `user` message, in the order of the calls, before any other content there. Missing results are generated; extra
 * ones are dropped. If older messages were compacted, the prompt starts with their summary, and tool results are
 * shown in their short form.
 */
import {
  isToolResult,
  isToolUse,
  type Block,
  type DocumentBlock,
  type ImageBlock,
  type TextBlock,
  type ThinkingBlock,
  type ToolResultBlock,
  type ToolUseBlock,
} from './blocks.ts';
import { NOTHING_COMPACTED, isShortened, shownBy, type Compacted, type Summary } from '../compaction/compacted.ts';
import { shortened } from '../compaction/shorten.ts';
import type { ToolCallId } from '../ids.ts';
import type { Message } from './message.ts';
import { memoize } from '../memoize.ts';

export type UserBlock = TextBlock | ImageBlock | DocumentBlock | ToolResultBlock;
export type AssistantBlock = TextBlock | ThinkingBlock | ToolUseBlock;

export type PromptMessage = { role: 'user'; content: UserBlock[] } | { role: 'assistant'; content: AssistantBlock[] };

/** Placed first if history begins with an answer: providers require a `user` message first. */
const OPENING: PromptMessage = {
  role: 'user',
  content: [{ type: 'text', text: '(This conversation begins with a message of the assistant.)' }],
};

/** The result for a `tool_use` that has none in history: a call without a result is never sent. */
const NO_RESULT = 'No result was recorded for this call.';

/** Pure; linear in the length of history. A history message maps to the same prompt message object at every call. */
export function assemble(history: readonly Message[], compacted: Compacted = NOTHING_COMPACTED): PromptMessage[] {
  const left = compacted.summary === null ? history : history.filter(shownBy({ history, compacted }));
  const results = resultsByCall(left, compacted);
  const prompt = new Prompt();
  if (compacted.summary !== null) prompt.add(summaryNote(compacted.summary));
  for (const message of left) {
    const sent = toPromptMessage(message);
    if (sent === null) continue;
    if (sent.role === 'assistant' && prompt.isEmpty) prompt.add(OPENING);
    prompt.add(sent);
    const answers = sent.role === 'assistant' ? answersTo(sent, results) : null;
    if (answers !== null) prompt.add(answers);
  }
  return prompt.messages;
}

/** Merges neighbouring messages of one role. Messages built from history are copied, not changed. */
class Prompt {
  readonly messages: PromptMessage[] = [];
  /** Whether the last message is a copy made here. */
  #isOwn = false;

  get isEmpty(): boolean {
    return this.messages.length === 0;
  }

  add(message: PromptMessage): void {
    const last = this.messages.at(-1);
    if (last?.role !== message.role) {
      this.messages.push(message);
      this.#isOwn = false;
      return;
    }
    const whole = this.#isOwn ? last : copyOf(last);
    if (!this.#isOwn) this.messages.splice(-1, 1, whole);
    this.#isOwn = true;
    if (whole.role === 'user' && message.role === 'user') whole.content.push(...message.content);
    else if (whole.role === 'assistant' && message.role === 'assistant') whole.content.push(...message.content);
  }
}

function copyOf(message: PromptMessage): PromptMessage {
  return message.role === 'user'
    ? { role: message.role, content: [...message.content] }
    : { role: message.role, content: [...message.content] };
}

/** Null: not sent at this position. */
const toPromptMessage = memoize(({ role, content }: Message): PromptMessage | null => {
  switch (role) {
    case 'assistant':
      return orNothing({ role, content: content.filter(isAssistantContent).filter(isNotEmpty) });
    case 'user':
      return orNothing({ role, content: content.filter(isUserContent).filter(isNotEmpty) });
    case 'system':
      return orNothing({
        role: 'user',
        content: content.filter(isNoteText).map(asNote).filter(isNotEmpty),
      });
    case 'tool':
      // Sent after the call it answers.
      return null;
  }
});

function orNothing(message: PromptMessage): PromptMessage | null {
  return message.content.length === 0 ? null : message;
}

/** Replaces the messages it summarises; the text stays the same until there is a newer summary. */
const summaryNote = memoize(({ text }: Summary): PromptMessage => {
  const note = `The earlier part of this conversation was summarised and is no longer shown:\n\n${text}\n\nThe conversation continues from there.`;
  return { role: 'user', content: [asNote({ type: 'text', text: note })] };
});

const shortOf = memoize(shortened);

function resultsByCall(history: readonly Message[], compacted: Compacted): Map<ToolCallId, ToolResultBlock> {
  const results = new Map<ToolCallId, ToolResultBlock>();
  for (const message of history) {
    if (message.role !== 'tool') continue;
    for (const block of message.content) {
      if (!isToolResult(block) || results.has(block.tool_use_id)) continue;
      results.set(block.tool_use_id, isShortened(compacted, message) ? shortOf(block) : block);
    }
  }
  return results;
}

type Answers = { role: 'user'; content: ToolResultBlock[] };
const answersOf = new WeakMap<PromptMessage, Answers>();

/** The results of the message's calls, in order; null: it makes no calls. */
function answersTo(
  message: Extract<PromptMessage, { role: 'assistant' }>,
  results: ReadonlyMap<ToolCallId, ToolResultBlock>,
): Answers | null {
  const calls = message.content.filter(isToolUse);
  if (calls.length === 0) return null;
  const known = answersOf.get(message);
  if (known?.content.every((result, index) => result === results.get(calls[index]?.id ?? result.tool_use_id)))
    return known;
  const answers: Answers = {
    role: 'user',
    content: calls.map((call) => results.get(call.id) ?? missingResult(call)),
  };
  answersOf.set(message, answers);
  return answers;
}

function missingResult(call: ToolUseBlock): ToolResultBlock {
  return { type: 'tool_result', tool_use_id: call.id, content: NO_RESULT, is_error: true };
}

/** A note written by the platform, marked to distinguish it from the user's text. */
function asNote(block: TextBlock): TextBlock {
  return { type: 'text', text: `<system-note>${block.text}</system-note>` };
}

/** Providers reject empty text. */
function isNotEmpty(block: Block): boolean {
  return block.type !== 'text' || block.text !== '';
}

function isNoteText(block: Block): block is TextBlock {
  return block.type === 'text';
}

function isUserContent(block: Block): block is TextBlock | ImageBlock | DocumentBlock {
  return block.type === 'text' || block.type === 'image' || block.type === 'document';
}

function isAssistantContent(block: Block): block is AssistantBlock {
  return block.type === 'text' || block.type === 'thinking' || block.type === 'tool_use';
}
