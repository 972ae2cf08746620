/** The data that a block carries for this provider; null for other providers. */
import type { Block, Opaque } from '../../../core/conversation/blocks.ts';
import { isJsonObject, type JsonObject } from '../../../core/json.ts';
import type { ProviderName } from '../../../core/model/model.ts';

export function ownData(block: Block, provider: ProviderName): JsonObject | null {
  const opaque: Opaque | undefined = 'provider' in block ? block.provider : undefined;
  return opaque?.name === provider && isJsonObject(opaque.data) ? opaque.data : null;
}
