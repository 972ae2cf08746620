/** A prompt as one text, in which two prompts are compared line by line. The names are those of the API. Pure. */
import type { SentPrompt } from 'nightshift/client';

type Message = NonNullable<SentPrompt['messages']>[number];

export function textOfPrompt({ tools, messages, ...prompt }: SentPrompt): string {
  const { model, max_tokens, streaming, parameters, output_schema, system, pinned } = prompt;
  const settings = Object.entries({ model, max_tokens, streaming, parameters });
  const texts = Object.entries({ system, pinned, output_schema });
  return [
    ...settings.map(([name, value]) => `${name}: ${write(value)}`),
    ...(tools ?? []).flatMap(({ name, ...tool }) => ['', `tools.${name}: ${write(tool)}`]),
    ...texts.flatMap(([name, value]) => ['', `${name}:`, write(value)]),
    ...(messages ?? []).flatMap((message, index) => ['', `messages.${index}: ${message.role}`, ...linesOf(message)]),
  ].join('\n');
}

function linesOf({ content }: Message): string[] {
  return content.map((block) => {
    const { type, text } = block;
    return type === 'text' && typeof text === 'string' ? text : write(block);
  });
}

/** A text as it is, all else as JSON. */
function write(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
}
