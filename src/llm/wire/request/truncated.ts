/**
 * A call that the token limit cut off before its first argument looks like a call without arguments, and would run.
 * It gets arguments that no schema accepts, so that the model receives an error and repeats it.
 */
import { isToolUse, type Block } from '../../../core/conversation/blocks.ts';
import { isJsonObject } from '../../../core/json.ts';
import type { FinishReason } from '../../../core/model/model.ts';

export function markTruncated(content: Block[], finish: FinishReason): Block[] {
  const last = content.at(-1);
  if (finish !== 'max_tokens' || last === undefined || !isToolUse(last)) return content;
  const empty = isJsonObject(last.input) && Object.keys(last.input).length === 0;
  return empty ? [...content.slice(0, -1), { ...last, input: '' }] : content;
}
