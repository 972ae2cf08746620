// The entries of a conversation, each as one line of text: the expected ones of the reference, and the stored ones.
import { isToolResult, isToolUse, type Block } from '../../../src/core/conversation/blocks.ts';
import type { JobId, MessageId, ToolCallId } from '../../../src/core/ids.ts';
import type { MessageRole, MessageType } from '../../../src/core/conversation/message.ts';
import type { PromptMessage } from '../../../src/core/conversation/prompt.ts';
import type { Turn } from '../../../src/core/conversation/turn.ts';
import type { Tool } from './operations.ts';

/** A call; `number` identifies it, and is in its input. */
export type Call = { id: ToolCallId; tool: Tool; number: number };

export type Entry = {
  /** Null: the platform makes it, and it has not been read yet. */
  id: MessageId | null;
  /** The branch to which it was added. */
  branch: string;
  role: MessageRole;
  type: MessageType;
  turn: Turn;
  words: string;
  /** Of an answer. */
  calls: readonly Call[];
  isPause: boolean;
  /** Of a result. */
  of: ToolCallId | null;
  jobId: JobId;
  status: 'stands' | 'retracted' | 'cleared';
};

/** The replacements of older messages, each up to the entry that it names. */
export type Standing = { summary: { words: string; upto: Entry } | null; shortened: Entry | null };

/** The text for a call without a result of its own, in any wording. */
export const BY_RULE = 'by rule';

const SHORT = ', shortened';

/** Appended to the text of each message, so that there is something to compact; results of tools have more of it. */
export function padded(words: string): string {
  return words.padEnd(240, '·');
}

export function paddedResult(words: string): string {
  return words.padEnd(600, '·');
}

function bare(text: string): string {
  const short = /^([^·]*)·+… \(An old result, shortened/.exec(text)?.[1];
  return short === undefined ? text.replace(/·+$/, '') : `${short}${SHORT}`;
}

export function contentOf({ role, words, calls, of }: Entry): string[] {
  if (role === 'tool') return [`←${of}: ${words}`];
  return [...(words === '' ? [] : [words]), ...calls.map(({ id, tool }) => `→${tool}#${id}`)];
}

export function lineOf(entry: Entry): string {
  return `${entry.turn} ${entry.role} ${entry.type}: ${contentOf(entry).join(' ')}`;
}

export type Shown = { role: MessageRole; type: MessageType; turn: Turn | null; content: readonly Block[] };

export function shownLine({ role, type, turn, content }: Shown): string {
  return `${turn ?? 'queued'} ${role} ${type}: ${content.map((block) => shownBlock(block)).join(' ')}`;
}

/** The effects that a note of the platform names. */
export function noteOf(calls: readonly Call[]): string {
  return `note: ${calls.map(({ tool, number }) => `${tool} ${number}`).join(', ')}`;
}

function shownBlock(block: Block): string {
  if (isToolUse(block)) return `→${block.name}#${block.id}`;
  if (isToolResult(block)) {
    const content = typeof block.content === 'string' ? block.content : JSON.stringify(block.content);
    return `←${block.tool_use_id}: ${block.is_error ? BY_RULE : bare(content)}`;
  }
  return block.type === 'text' ? shownText(block.text) : block.type;
}

function shownText(text: string): string {
  const summary = /was summarised and is no longer shown:\n\n([^·]*)·*\n\n/.exec(text)?.[1];
  if (summary !== undefined) return `summary: ${summary}`;
  if (!text.includes('These tool calls had already started')) return bare(text);
  const named = [...text.matchAll(/(\w+)\(\{"\w+":"?(\d+)/g)].map(([, tool, number]) => `${tool} ${number}`);
  return `note: ${named.join(', ')}`;
}

/** The content of a prompt, whatever messages it is split into. */
export function promptLines(prompt: readonly PromptMessage[]): string[] {
  return prompt.flatMap(({ role, content }) => [...content].map((block) => `${role}: ${shownBlock(block)}`));
}

/**
 * The expected content of the prompt of these entries: results after the answer that asked for them, in its order;
 * missing results are filled in.
 */
export function expectedPrompt(entries: readonly Entry[], { summary, shortened }: Standing): string[] {
  const results = new Map(entries.flatMap((entry) => (entry.of === null ? [] : [[entry.of, entry] as const])));
  const isShort = (result: Entry) =>
    shortened !== null && isLong(result) && entries.indexOf(result) <= entries.indexOf(shortened);
  const after = summary === null ? 0 : entries.indexOf(summary.upto) + 1;
  // An input that is to be answered is shown, summarised or not, until a summary covers its answer too.
  const asked = entries.findLastIndex(({ role }) => role === 'user');
  const owed = entries[asked];
  const isOwed =
    owed !== undefined && asked < after && entries.slice(asked + 1, after).every(({ role }) => role === 'system');
  const lines = [...(isOwed ? [owed] : []), ...entries.slice(after)].flatMap((entry) => {
    if (entry.role === 'tool') return [];
    const side = entry.role === 'assistant' ? 'assistant' : 'user';
    const answers = entry.calls.map(({ id }) => {
      const result = results.get(id);
      const short = result !== undefined && isShort(result) ? SHORT : '';
      return `user: ←${id}: ${result?.words ?? BY_RULE}${short}`;
    });
    return [...contentOf(entry).map((words) => `${side}: ${words}`), ...answers];
  });
  return [...(summary === null ? [] : [`user: summary: ${summary.words}`]), ...lines];
}

/** A result of a tool that runs here: those are long enough to be shortened. */
export function isLong({ of, words }: Entry): boolean {
  return of !== null && /^(look|mail) /.test(words);
}
