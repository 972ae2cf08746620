/** Prints the events of a context, and the logs of its calls, as readable lines. */
import type { ContentBlock, LogEntry, Message, StreamEvent } from '../../client/index.ts';
import { inputText } from '../asking/item.ts';
import { lookOf, type Ink } from '../terminal/ink.ts';
import { oneLine, safe } from '../terminal/safe.ts';
import type { Screen } from '../terminal/screen.ts';
import { cut } from '../terminal/width.ts';
import { entryText, openProgressLines } from './call-logs.ts';

const RESULT_COLUMNS = 300;

/** Each function returns lines, each ended by a newline; empty for what is not printed. */
export type EventPrinter = {
  message(id: number | null, message: Message): string;
  event(event: Exclude<StreamEvent, { event: 'MessageCompleted' }>): string;
  entry(entry: LogEntry): string;
};

export function openEventPrinter({ ink }: Screen): EventPrinter {
  const progressLine = openProgressLines();
  return {
    message: (id, message) => numberText(ink, id) + messageText(ink, message),
    event(event) {
      const progress = progressLine(event);
      const line = progress === null ? lineOf(ink, event) : ink('dim', progress);
      return line === null ? '' : `${numberText(ink, event.id)}${line}\n`;
    },
    entry: (entry) => `${numberText(ink, null)}${entryText(ink, entry)}\n`,
  };
}

function numberText(ink: Ink, id: number | null): string {
  return ink('dim', (id === null ? '·' : String(id)).padStart(5) + '  ');
}

function messageText(ink: Ink, { role, turn, content, sender_worker_id }: Message): string {
  const from = sender_worker_id === null ? '' : ` from worker ${sender_worker_id}`;
  const head = `${ink(role === 'user' ? 'cyan' : 'bold', role)} ${ink('dim', `${turn ?? ''}${from}`)}`;
  const lines = content.flatMap((block) => blockText(ink, block).split('\n'));
  return `${head.trimEnd()}\n${lines.map((line) => `       ${line}\n`).join('')}`;
}

function blockText(ink: Ink, block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return safe(block.text);
    case 'thinking':
      return ink('dim', `(thinking) ${oneLine(block.text)}`);
    case 'tool_use':
      return `→ ${oneLine(block.name)} ${inputText(block.input)} ${ink('dim', block.id)}`;
    case 'tool_result': {
      const { content } = block;
      const text = typeof content === 'string' ? content : content.map((part) => blockText(ink, part)).join(' ');
      const mark = block.is_error ? ink('red', '✗') : ink('green', '✓');
      return `${mark} ${cut(oneLine(text), RESULT_COLUMNS)}`;
    }
    case 'image':
    case 'document':
      return `[${block.type}: ${block.source.type === 'url' ? safe(block.source.url) : block.source.media_type}]`;
  }
}

/** Null: the event is not printed. */
function lineOf(ink: Ink, { event, data }: Exclude<StreamEvent, { event: 'MessageCompleted' }>): string | null {
  switch (event) {
    case 'JobStarted':
      return ink('dim', `job ${data.job_id} started${data.attempt > 1 ? `, attempt ${data.attempt}` : ''}`);
    case 'JobFinished':
      return `${ink('dim', `job ${data.job_id}`)} ${ink(lookOf(data.status), data.status)}`;
    case 'StateChanged':
      return ink('dim', data.new_state);
    case 'ToolCallStarted':
      return ink('dim', `${oneLine(data.name)} started ${data.tool_call_id}`);
    case 'ToolCallFinished':
      return `${ink('dim', oneLine(data.name))} ${ink(lookOf(data.status), data.status)}`;
    case 'ApprovalRequested':
      return `${ink('yellow', '?')} may ${oneLine(data.name)} run? ${inputText(data.input)} ${ink('dim', data.tool_call_id)}`;
    case 'ApprovalResolved':
      return `${oneLine(data.name)}: ${data.decision} (${data.by})${data.reason === null ? '' : `: ${oneLine(data.reason)}`}`;
    case 'InputRequested':
      return `${ink('yellow', '?')} ${oneLine(data.question ?? `waiting for a client to run ${data.name}`)} ${ink('dim', data.tool_call_id)}`;
    case 'OutcomeUnknown':
      return `${ink('yellow', '?')} did ${oneLine(data.name)} happen? ${inputText(data.input)} ${ink('dim', data.tool_call_id)}`;
    case 'OutcomeResolved':
      return `${oneLine(data.name)}: ${data.outcome}`;
    case 'WorkerSpawned':
      return `⤷ worker ${oneLine(data.name)} ${ink('dim', data.worker_id)}`;
    case 'MessageIncomplete':
      return `answer not finished ${ink('dim', data.message_id)}`;
    case 'MessagesRetracted':
      return `${data.message_ids.length} messages of ${data.turn} removed (${data.mode})`;
    case 'ContextCompacted':
      return `history compacted (${data.type}): ${data.tokens_before} → ${data.tokens_after} tokens`;
    case 'ContextCleared':
      return 'history cleared';
    case 'ContextImported':
      return `imported (${data.format})`;
    case 'BranchCreated':
      return `branch ${oneLine(data.branch)} created from ${oneLine(data.parent)}`;
    case 'BranchSwitched':
      return `branch ${oneLine(data.branch)} is now active`;
    case 'BranchDeleted':
      return `branch ${oneLine(data.branch)} deleted`;
    case 'ContentDelta':
    case 'ContentSnapshot':
    case 'ThinkingDelta':
    case 'ToolCallProgress':
      return null;
  }
}
