/** A conversation with all content that the console renders, as an import document. The same ten messages repeat. */
import type { ContextExport, ExportedMessage } from '../../src/client/index.ts';
import { LOOK } from '../tool.ts';

type HistoryMessage = Pick<ExportedMessage, 'role' | 'message_type' | 'content'>;
type Block = ExportedMessage['content'][number];

/** The number of messages in one repetition, two inputs among them. */
const CYCLE = 10;
const SECOND_INPUT = 7;

/** The first and last texts, as shown on the page. */
export const FIRST = 'Question 0: what is in the house with the number 0?';
export const lastOf = (count: number): string => `That was house ${count / CYCLE - 1}.`;

const AT = '2026-01-01T00:00:00.000Z';

/** `count`: a multiple of ten. */
export function mixedHistory(count: number): ContextExport {
  const messages = Array.from({ length: count / CYCLE }, (_, house) => aboutHouse(house)).flat();
  const usage = { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 };
  const counted = { message_count: count, request_count: 0, usage, created_at: AT };
  return {
    format: 'nightshift.context',
    version: 1,
    context: {
      title: 'Ten thousand messages',
      worker: { name: 'bench', role: null },
      config: { model: 'openai-chat/bench', tools: [LOOK.name] },
      active_branch: 'main',
      turn_count: (2 * count) / CYCLE,
      ...counted,
    },
    entries: messages.map((message, at) => ({
      type: 'message',
      number: at + 1,
      branch: 'main',
      turn: `${message.role === 'user' ? 'u' : 'a'}${turnOf(at)}`,
      status: 'completed',
      created_at: AT,
      completed_at: AT,
      model: null,
      ...message,
    })),
    branches: [{ name: 'main', parent: null, fork: null, spans: null, ...counted }],
  };
}

function turnOf(at: number): number {
  return 2 * Math.floor(at / CYCLE) + (at % CYCLE < SECOND_INPUT ? 1 : 2);
}

function aboutHouse(house: number): HistoryMessage[] {
  const [first, second, third] = [callId(house, 1), callId(house, 2), callId(house, 3)];
  return [
    input(`Question ${house}: what is in the house with the number ${house}?`),
    answer('tool_call', [
      { type: 'thinking', text: paragraphs(1 + (house % 3)) },
      { type: 'text', text: `I look at the hall of **house ${house}** first.` },
      call(first, `the hall of house ${house}`),
    ]),
    result(first, JSON.stringify({ room: 'hall', chairs: house % 7, seen: paragraphs(1) })),
    answer('tool_call', [call(second, `the attic of house ${house}`), call(third, `the cellar ${house}`)]),
    result(second, paragraphs(2)),
    result(third, 'The door is locked.', true),
    answer('text', [{ type: 'text', text: report(house) }]),
    input('And as a program?\n\nKeep it short, please.'),
    answer('text', [
      { type: 'thinking', text: paragraphs(1) },
      { type: 'text', text: program(house) },
    ]),
    answer('text', [{ type: 'text', text: `That was house ${house}.` }]),
  ];
}

const input = (text: string): HistoryMessage => ({
  role: 'user',
  message_type: 'text',
  content: [{ type: 'text', text }],
});
const answer = (message_type: HistoryMessage['message_type'], content: Block[]): HistoryMessage => ({
  role: 'assistant',
  message_type,
  content,
});
const call = (id: string, place: string): Block => ({
  type: 'tool_use',
  id,
  name: LOOK.name,
  input: { place },
});
const result = (tool_use_id: string, content: string, is_error = false): HistoryMessage => ({
  role: 'tool',
  message_type: 'tool_result',
  content: [{ type: 'tool_result', tool_use_id, content, is_error }],
});

function callId(house: number, nth: number): string {
  return `00000000-0000-7000-8000-${String(house * CYCLE + nth).padStart(12, '0')}`;
}

const SENTENCE =
  'There is a table with two chairs, a lamp that was left on, and a window to the garden that was left open. ';

function paragraphs(count: number): string {
  return Array.from({ length: count }, () => SENTENCE.repeat(3).trim()).join('\n\n');
}

function report(house: number): string {
  const rows = Array.from({ length: 3 + (house % 4) }, (_, at) => `| room ${at} | ${at * house} | *fine* |`);
  const points = ['the hall is `open`', 'the attic is dry', '[the cellar](https://example.com) is locked'];
  return [
    `## House ${house}`,
    paragraphs(1 + (house % 2)),
    points.map((point) => `- ${point}`).join('\n'),
    ['| room | chairs | |', '|---|--:|---|', ...rows].join('\n'),
  ].join('\n\n');
}

function program(house: number): string {
  const lines = Array.from(
    { length: 4 + (house % 9) },
    (_, at) => `  const room${at} = await look({ place: 'room ${at}', house: ${house} }); // ${at}`,
  );
  return `Like this:\n\n\`\`\`ts\nasync function walk(): Promise<void> {\n${lines.join('\n')}\n}\n\`\`\``;
}
