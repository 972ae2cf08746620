/** Who made a message, and at what price: the columns of it that only an answer of a model has. */
import type { ModelMeta } from '../core/message.ts';

export type ModelColumns = {
  model_id: string | null;
  provider_id: string | null;
  finish_reason: string | null;
  input_tokens: number | null;
  output_tokens: number | null;
  cache_read_tokens: number | null;
  cache_write_tokens: number | null;
};

/** Null: no model made it. */
export function toModelMeta(row: ModelColumns): ModelMeta | null {
  if (row.model_id === null) return null;
  return {
    modelId: row.model_id,
    providerId: row.provider_id ?? '',
    finishReason: row.finish_reason ?? '',
    usage: {
      input_tokens: row.input_tokens ?? 0,
      output_tokens: row.output_tokens ?? 0,
      cache_read_tokens: row.cache_read_tokens ?? 0,
      cache_write_tokens: row.cache_write_tokens ?? 0,
    },
  };
}
