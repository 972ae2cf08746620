/** Token counts in OpenAI's formats, which differ only in names. */
import type { JsonObject } from '../../core/json.ts';
import { unpriced, type Usage } from '../../core/money/usage.ts';
import { countIn, objectIn } from '../wire/answer/json.ts';

/** The count of the prompt includes cached tokens; ours does not. Without usage data all counts are 0. */
export function readUsage(usage: JsonObject, prompt: 'input' | 'prompt', output: 'output' | 'completion'): Usage {
  const details = objectIn(usage, `${prompt}_tokens_details`);
  const read = countIn(details, 'cached_tokens');
  const written = countIn(details, 'cache_write_tokens');
  return unpriced({
    input_tokens: Math.max(0, countIn(usage, `${prompt}_tokens`) - read - written),
    output_tokens: countIn(usage, `${output}_tokens`),
    cache_read_tokens: read,
    cache_write_tokens: written,
  });
}
