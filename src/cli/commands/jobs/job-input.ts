/** The input that a job answers. */
import { NightshiftError, type Client, type Job, type Message } from '../../../client/index.ts';
import { oneLine } from '../../terminal/safe.ts';

/** Null: it answers none of its own, or the input was deleted. */
export async function inputOf(
  client: Client,
  { context_id, input_message_id }: Pick<Job, 'context_id' | 'input_message_id'>,
): Promise<Message | null> {
  if (input_message_id === null) return null;
  try {
    return await client.contexts.messages.get(context_id, input_message_id);
  } catch (error) {
    if (error instanceof NightshiftError && error.code === 'not_found') return null;
    throw error;
  }
}

/** On one line; images and documents as their types. */
export function inputText({ content }: Message): string {
  return oneLine(content.map((block) => (block.type === 'text' ? block.text : `(${block.type})`)).join(' '));
}
