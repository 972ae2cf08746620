// The model and the tools. The text of the input drives them: `plain` is answered, `tools` calls two tools, `work`
// calls one in each of three steps, `ask` asks a question, `both` asks one beside the tools, `retry` fails once and
// waits long, `fail` fails permanently. A model that is to summarise writes down the marks of all that it receives.
import { v7 } from 'uuid';
import { SUMMARISER } from '../../../src/core/compaction/summary.ts';
import type { ToolCallId } from '../../../src/core/ids.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import type { ModelOutcome, ModelRequest } from '../../../src/core/model/model.ts';
import type { ToolDescriptor, ToolInvocation } from '../../../src/core/tools/tool.ts';
import { NO_USAGE } from '../../../src/core/money/usage.ts';

export const TEXTS = ['plain', 'tools', 'ask', 'both', 'retry', 'fail'] as const;
export type Text = (typeof TEXTS)[number] | 'work';

/** Long enough to be worth a compaction. */
const LONG = 'so on and on '.repeat(45);

/** Of `work`, before its last answer. */
const STEPS = 3;

export const TOOLS: ToolDescriptor[] = (['ask_user', 'look', 'mail'] as const).map((name) => ({
  name,
  description: '',
  input_schema: { type: 'object' },
  effect: name === 'mail' ? 'once' : 'none',
  on_unknown: 'tell',
  answered_by: name === 'ask_user' ? 'person' : 'tool',
}));

/** The marks in a text: each submitted input has one, and each answer. */
export function marksIn(text: string): string[] {
  return [...new Set(text.match(/#\d+;/g))];
}

/** `mark`: of the answer. */
export function answerTo(request: ModelRequest, mark: string): ModelOutcome {
  const prompt = JSON.stringify(request.messages);
  const says = (...calls: Call[]): ModelOutcome => answer(`${mark} ${LONG}`, calls, prompt);
  if (request.system === SUMMARISER) return answer(marksIn(prompt).join(' '), [], prompt);
  const last = request.messages.at(-1)?.content.at(-1);
  if (last?.type === 'tool_result') {
    const left = Number(/left (\d+)/.exec(JSON.stringify(last.content))?.[1] ?? 0);
    return left > 0 ? says({ name: 'look', input: { left } }) : says();
  }
  const [word = ''] = last?.type === 'text' ? last.text.split(' ') : [];
  switch (word) {
    case 'tools':
      return says({ name: 'look' }, { name: 'mail' });
    case 'work':
      return says({ name: 'look', input: { left: STEPS } });
    case 'ask':
      return says({ name: 'ask_user' });
    case 'both':
      return says({ name: 'look' }, { name: 'ask_user' }, { name: 'mail' });
    case 'retry':
      if (request.failures > 0) return says();
      return { kind: 'failed', failure: { class: 'server_error', message: 'slow', retryAfterMs: 60_000 } };
    case 'fail':
      return { kind: 'failed', failure: { class: 'auth', message: 'no', retryAfterMs: null } };
    default:
      return says();
  }
}

export function resultOf({ name, input }: Pick<ToolInvocation, 'name' | 'input'>): string {
  const left = /"left":(\d+)/.exec(JSON.stringify(input))?.[1];
  return `${name} ok${left === undefined ? '' : `, left ${Number(left) - 1}`} ${LONG}`;
}

type Call = { name: string; input?: JsonObject };

function answer(text: string, calls: readonly Call[], prompt: string): ModelOutcome {
  return {
    kind: 'done',
    answer: {
      content: [
        { type: 'text', text },
        ...calls.map(({ name, input }) => ({
          type: 'tool_use' as const,
          id: v7() as ToolCallId,
          name,
          input: { question: 'Which?', ...input },
        })),
      ],
      finishReason: calls.length > 0 ? 'tool_use' : 'stop',
      usage: {
        ...NO_USAGE,
        input_tokens: Math.ceil(prompt.length / 4),
        output_tokens: Math.ceil(text.length / 4),
        // The price of some calls is not known.
        cost_nanos: prompt.length % 3 === 0 ? null : prompt.length,
      },
      modelId: 'm',
      responseId: null,
    },
  };
}
