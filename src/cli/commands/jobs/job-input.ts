/** The input that a job answers. */
import { NightshiftError, type Client, type Message } from '../../../client/index.ts';
import { oneLine } from '../../terminal/safe.ts';

/** `messageId` null: the job answers none of its own. Null: so it is, or the input was deleted. */
export async function inputOf(client: Client, contextId: string, messageId: string | null): Promise<Message | null> {
  if (messageId === null) return null;
  try {
    return await client.contexts.messages.get(contextId, messageId);
  } catch (error) {
    if (error instanceof NightshiftError && error.code === 'not_found') return null;
    throw error;
  }
}

/** On one line; images and documents as their types. */
export function inputText({ content }: Message): string {
  return oneLine(content.map((block) => (block.type === 'text' ? block.text : `(${block.type})`)).join(' '));
}
