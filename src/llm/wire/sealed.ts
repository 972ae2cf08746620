/**
 * Reasoning is sealed for the model that made it: signatures and encrypted content of another one are refused, though the
 * provider be the same. On the way out such reasoning loses its seal, and is left out as that of another provider is; it
 * stays in history, and goes back once its own model is asked again.
 */
import type { ThinkingBlock } from '../../core/blocks.ts';
import { isJsonObject } from '../../core/json.ts';
import type { ModelName, ModelRequest } from '../../core/model.ts';
import type { AssistantBlock, PromptMessage } from '../../core/prompt.ts';
import { without } from './json.ts';

/** Where the seal is: a signature, what it signs, or what is encrypted whole. */
const SEALED = ['type', 'signature', 'data'];
const ENCRYPTED = ['encrypted_content'];

/** By the provider's own type of block. */
const SEALS: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['thinking', SEALED],
  ['redacted_thinking', SEALED],
  ['reasoning', ENCRYPTED],
]);

/** Messages in which nothing was sealed for another model are left as they are. */
export function withoutForeignSeals(request: ModelRequest): ModelRequest {
  const isOfAnother = isForeign(request.model);
  return { ...request, messages: request.messages.map((message) => unsealedIn(message, isOfAnother)) };
}

function unsealedIn(message: PromptMessage, isOfAnother: ReturnType<typeof isForeign>): PromptMessage {
  if (message.role === 'user' || !message.content.some(isOfAnother)) return message;
  const content = message.content.map((block) => (isOfAnother(block) ? unsealed(block) : block));
  return { role: 'assistant', content };
}

function isForeign({ provider, model }: ModelName): (block: AssistantBlock) => block is ThinkingBlock {
  return (block): block is ThinkingBlock =>
    block.type === 'thinking' &&
    block.provider?.name === provider &&
    block.provider.model !== undefined &&
    block.provider.model !== model;
}

/** Each kind without what it cannot be sent without. Kinds that bear no seal stay as they are. */
function unsealed(block: ThinkingBlock): ThinkingBlock {
  const { provider } = block;
  if (provider === undefined || !isJsonObject(provider.data)) return block;
  const { data } = provider;
  const seal = SEALS.get(data['type']);
  return seal === undefined ? block : { ...block, provider: { ...provider, data: without(data, ...seal) } };
}
