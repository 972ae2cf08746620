/** What a replay compares, as lines that a person can read. */
import type { Block, ResultPart } from '../../core/conversation/blocks.ts';
import { pinnedText } from '../../core/conversation/pinned.ts';
import type { MessageRole } from '../../core/conversation/message.ts';
import { formatModelName } from '../../core/model/model.ts';
import type { Settings } from '../../core/workers/settings.ts';

/** Everything that a prompt begins with. */
export function promptLines(settings: Settings): string[] {
  const { model, systemPrompt, pinned, tools, mode, outputSchema, parameters, maxTokens } = settings;
  return [
    `model: ${formatModelName(model)}`,
    `mode: ${mode}`,
    ...(maxTokens === null ? [] : [`max_tokens: ${maxTokens}`]),
    ...titled('parameters', jsonLines(parameters)),
    ...titled('system prompt', systemPrompt.split('\n')),
    ...titled('pinned', pinnedText(pinned).split('\n')),
    ...tools.flatMap(({ name, description, input_schema }) =>
      titled(`tool ${name}`, [...description.split('\n'), ...jsonLines(input_schema)]),
    ),
    ...(outputSchema === null ? [] : titled('output_schema', jsonLines(outputSchema))),
  ];
}

/** Notes of the platform are no part of it. */
export function conversationLines(messages: readonly { role: MessageRole; content: readonly Block[] }[]): string[] {
  return messages.flatMap(({ role, content }) =>
    role === 'system' ? [] : content.flatMap((block) => blockLines(role, block)),
  );
}

function blockLines(role: MessageRole, block: Block): string[] {
  switch (block.type) {
    case 'text':
      return prefixed(`${role}: `, block.text);
    case 'thinking':
      return block.text === '' ? [] : prefixed('thinking: ', block.text);
    case 'tool_use':
      return [`→ ${block.name} ${JSON.stringify(block.input)}`];
    case 'tool_result':
      return prefixed(block.is_error ? '← error: ' : '← ', resultText(block.content));
    case 'image':
    case 'document':
      return [`${role}: [${block.type}] ${JSON.stringify(block.source)}`];
  }
}

function resultText(content: string | readonly ResultPart[]): string {
  if (typeof content === 'string') return content;
  return content
    .map((part) => (part.type === 'text' ? part.text : `[image] ${JSON.stringify(part.source)}`))
    .join('\n');
}

/** Further lines are indented. */
function prefixed(prefix: string, text: string): string[] {
  return text.split('\n').map((line, at) => `${at === 0 ? prefix : ' '.repeat(prefix.length)}${line}`);
}

function titled(title: string, lines: readonly string[]): string[] {
  const text = lines.join('').trim();
  return text === '' || text === '{}' ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`)];
}

function jsonLines(value: object): string[] {
  return JSON.stringify(value, null, 2).split('\n');
}
