/** The directives that the model plays next for a prompt, or a default text. Pure. */
import { textOf, type ToolResultBlock } from '../../core/conversation/blocks.ts';
import type { PromptMessage } from '../../core/conversation/prompt.ts';
import type { ModelRequest } from '../../core/model/model.ts';
import { LANGUAGE } from './language.ts';
import { readScript, type Directive } from './script.ts';

const HINT = 'I am the simulated model: no key, no network. Say "help:" to learn how to script me.';

export function planStep(request: ModelRequest): Directive[] {
  const scene = readScene(request.messages);
  const script = readScript(scene.input);
  switch (script.kind) {
    case 'plain':
      return [say(`[simulated] You said: ${script.text}\n\n${HINT}`)];
    case 'mistake':
      return [say(`[simulated] I do not understand this line: ${script.line}\n\n${LANGUAGE}`)];
    case 'steps':
      return script.steps[scene.step] ?? [say(afterScript(scene))];
  }
}

function afterScript({ results }: Scene): string {
  if (results.length === 0) return '[simulated] My script is over.';
  const resultLines = results.map(({ is_error, content }) => {
    const text = typeof content === 'string' ? content : textOf(content);
    return `${is_error ? 'failed: ' : ''}${shortened(text)}`;
  });
  return `[simulated] My script is over. The tools answered:\n${resultLines.join('\n')}`;
}

function shortened(text: string): string {
  return text.length <= 2_000 ? text : `${text.slice(0, 2_000)} …`;
}

function say(text: string): Directive {
  return { kind: 'say', text };
}

/** The position in the script for a prompt. */
type Scene = {
  /** The text of the last input. */
  input: string;
  /** Assistant messages since then: the index of the next step. */
  step: number;
  /** Tool results in the last message. */
  results: ToolResultBlock[];
};

function readScene(messages: readonly PromptMessage[]): Scene {
  const at = messages.findLastIndex((message) => inputIn(message) !== null);
  const input = messages[at];
  const last = messages.at(-1);
  return {
    input: input === undefined ? '' : (inputIn(input) ?? ''),
    step: messages.slice(at + 1).filter((message) => message.role === 'assistant').length,
    results: last?.role === 'user' ? last.content.filter((block) => block.type === 'tool_result') : [],
  };
}

/** Unanswered inputs are merged into one message: its last text is the script. */
function inputIn(message: PromptMessage): string | null {
  if (message.role !== 'user') return null;
  const texts = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  return texts.findLast((text) => !text.startsWith('<system-note>')) ?? null;
}
