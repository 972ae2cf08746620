/** The columns of a message that only a model's answer has: model, provider and usage. */
import type { ModelMeta } from '../../core/conversation/message.ts';
import { NO_USAGE } from '../../core/money/usage.ts';
import { toUsageOrNull } from './usage.ts';
import type { UsageColumns } from './usage.ts';

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
