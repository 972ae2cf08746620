/**
 * From stored history to a prompt that every provider accepts: system text apart, then `user` and `assistant` by turns,
 * beginning with `user`; every `tool_use` answered by exactly one `tool_result` in the very next `user` message, in the
 * order of the calls, before anything else there. What history lacks is written by rule; what it has too much is dropped.
 * Where older messages were compacted it begins with what stands for them; results of tools are shown by their summaries.
 */
import { isToolResult, isToolUse } from './blocks.ts';
import type {
  Block,
  DocumentBlock,
  ImageBlock,
  TextBlock,
  ThinkingBlock,
  ToolResultBlock,
  ToolUseBlock,
} from './blocks.ts';
import { NOTHING_COMPACTED, isShortened, shownBy } from './compaction/compacted.ts';
import type { Compacted, Summary } from './compaction/compacted.ts';
import { shortened } from './compaction/shorten.ts';
import type { ToolCallId } from './ids.ts';
import type { Message } from './message.ts';
import { memoize } from './memoize.ts';

export type UserBlock = TextBlock | ImageBlock | DocumentBlock | ToolResultBlock;
export type AssistantBlock = TextBlock | ThinkingBlock | ToolUseBlock;

export type PromptMessage =
  | { role: 'user'; content: UserBlock[] }
  | { role: 'assistant'; content: AssistantBlock[] };

/** Stands first where history begins with an answer: providers want a `user` message first. */
const OPENING: PromptMessage = {
  role: 'user',
  content: [{ type: 'text', text: '(The conversation so far began with the assistant.)' }],
};

/** For a `tool_use` whose result is missing from history altogether: an unanswered call is never sent. */
const NO_RESULT = 'No result was recorded for this call.';

/** Pure; linear in the length of history. A message of the prompt that one of history made is the same at every call. */
export function assemble(
  history: readonly Message[],
  compacted: Compacted = NOTHING_COMPACTED,
): PromptMessage[] {
  const left = compacted.summary === null ? history : history.filter(shownBy({ history, compacted }));
  const results = resultsByCall(left, compacted);
  const prompt = new Prompt();
  if (compacted.summary !== null) prompt.add(summaryNote(compacted.summary));
  for (const message of left) {
    const said = asSaid(message);
    if (said === null) continue;
    if (said.role === 'assistant' && prompt.isEmpty) prompt.add(OPENING);
    prompt.add(said);
    const answers = said.role === 'assistant' ? answersTo(said, results) : null;
    if (answers !== null) prompt.add(answers);
  }
  return prompt.messages;
}

/** Neighbours of one role become one message. What history made is left as it is. */
class Prompt {
  readonly messages: PromptMessage[] = [];
  /** Whether the last message was made here. */
  #isOwn = false;

  get isEmpty(): boolean {
    return this.messages.length === 0;
  }

  add(said: PromptMessage): void {
    const last = this.messages.at(-1);
    if (last?.role !== said.role) {
      this.messages.push(said);
      this.#isOwn = false;
      return;
    }
    const whole = this.#isOwn ? last : copyOf(last);
    if (!this.#isOwn) this.messages.splice(-1, 1, whole);
    this.#isOwn = true;
    if (whole.role === 'user' && said.role === 'user') whole.content.push(...said.content);
    else if (whole.role === 'assistant' && said.role === 'assistant') whole.content.push(...said.content);
  }
}

function copyOf(message: PromptMessage): PromptMessage {
  return message.role === 'user'
    ? { role: message.role, content: [...message.content] }
    : { role: message.role, content: [...message.content] };
}

/** Null: it is not sent where it stands. */
const asSaid = memoize(({ role, content }: Message): PromptMessage | null => {
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
      // Stands behind the call it answers.
      return null;
  }
});

function orNothing(said: PromptMessage): PromptMessage | null {
  return said.content.length === 0 ? null : said;
}

/** Stands for what it summarises: the same words until there is a newer one. */
const summaryNote = memoize(({ text }: Summary): PromptMessage => {
  const words = `What came before in this conversation was summarised, and is not shown any more:\n\n${text}\n\nThe conversation goes on from there.`;
  return { role: 'user', content: [asNote({ type: 'text', text: words })] };
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

/** What its calls brought, in their order; null: it makes none. */
function answersTo(
  said: Extract<PromptMessage, { role: 'assistant' }>,
  results: ReadonlyMap<ToolCallId, ToolResultBlock>,
): Answers | null {
  const calls = said.content.filter(isToolUse);
  if (calls.length === 0) return null;
  const known = answersOf.get(said);
  if (known?.content.every((result, index) => result === results.get(calls[index]?.id ?? result.tool_use_id)))
    return known;
  const answers: Answers = {
    role: 'user',
    content: calls.map((call) => results.get(call.id) ?? missingResult(call)),
  };
  answersOf.set(said, answers);
  return answers;
}

function missingResult(call: ToolUseBlock): ToolResultBlock {
  return { type: 'tool_result', tool_use_id: call.id, content: NO_RESULT, is_error: true };
}

/** A note of the platform's own, told apart from what the user wrote. */
function asNote(block: TextBlock): TextBlock {
  return { type: 'text', text: `<system-note>${block.text}</system-note>` };
}

/** Providers refuse empty text. */
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
