/** The columns of a message that only a model's answer has: model, provider and usage. */
import type { ModelMeta } from '../../core/conversation/message.ts';
import { plainText } from '../connection/codec.ts';
import { NO_USAGE } from '../../core/money/usage.ts';
import { toUsageOrNull, type UsageColumns } from './usage.ts';

export type ModelColumns = UsageColumns & {
  model_id: string | null;
  provider_id: string | null;
  finish_reason: string | null;
};

/** Null: the message is not from a model. */
export function toModelMeta(row: ModelColumns): ModelMeta | null {
  if (row.model_id === null) return null;
  return {
    modelId: row.model_id,
    providerId: row.provider_id ?? '',
    finishReason: row.finish_reason ?? '',
    usage: toUsageOrNull(row) ?? NO_USAGE,
  };
}

/** The columns of a statement that stores what is known of the model. */
export function modelColumns<Row>(of: (row: Row) => ModelMeta | null) {
  return {
    modelId: (row: Row) => plainOrNull(of(row)?.modelId),
    providerId: (row: Row) => plainOrNull(of(row)?.providerId),
    inputTokens: (row: Row) => of(row)?.usage.input_tokens ?? null,
    outputTokens: (row: Row) => of(row)?.usage.output_tokens ?? null,
    cacheReadTokens: (row: Row) => of(row)?.usage.cache_read_tokens ?? null,
    cacheWriteTokens: (row: Row) => of(row)?.usage.cache_write_tokens ?? null,
    costNanos: (row: Row) => of(row)?.usage.cost_nanos ?? null,
    finishReason: (row: Row) => plainOrNull(of(row)?.finishReason),
  };
}

function plainOrNull(text: string | undefined): string | null {
  return text === undefined ? null : plainText(text);
}
