/**
 * Reasoning is bound to the model that produced it: a provider refuses signatures and encrypted content of another
 * model, even of its own. Such reasoning is sent without its signature or encrypted content, and is then omitted like
 * that of another provider. It stays in history and is sent again when its own model is called.
 */
import type { ThinkingBlock } from '../../../core/conversation/blocks.ts';
import { isJsonObject } from '../../../core/json.ts';
import type { ModelName, ModelRequest } from '../../../core/model/model.ts';
import type { AssistantBlock, PromptMessage } from '../../../core/conversation/prompt.ts';
import { without } from '../answer/json.ts';

/** The fields that bind a block to its model: a signature with the signed data, or encrypted content. */
const SEALED = ['type', 'signature', 'data'];
const ENCRYPTED = ['encrypted_content'];

/** By the provider's own block type. */
const SEALS: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['thinking', SEALED],
  ['redacted_thinking', SEALED],
  ['reasoning', ENCRYPTED],
]);

/** Messages without such blocks of another model are returned unchanged. */
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

/** Removes the binding fields, without which the block is not sent. Blocks of other types stay unchanged. */
function unsealed(block: ThinkingBlock): ThinkingBlock {
  const { provider } = block;
  if (provider === undefined || !isJsonObject(provider.data)) return block;
  const { data } = provider;
  const seal = SEALS.get(data['type']);
  return seal === undefined ? block : { ...block, provider: { ...provider, data: without(data, ...seal) } };
}
