/**
 * A config as form values, for a worker and for a role. Null: the field is not set, and the inherited value applies. An
 * empty list, or an empty system prompt, is a value.
 */
import type { ApprovalRule, PinnedText, WorkerConfig } from 'nightshift/client';

export type ConfigMember = keyof WorkerConfig;

type Lists = {
  tools: readonly string[] | null;
  mcp_servers: readonly string[] | null;
  approval: ApprovalRule[] | null;
  pinned: PinnedText[] | null;
};

export type TextMember = Exclude<ConfigMember, keyof Lists>;

export type ConfigDraft = Lists & Record<TextMember, string | null>;

export function toConfigDraft(config: WorkerConfig): ConfigDraft {
  const { streaming } = config;
  return {
    model: config.model ?? null,
    mode: config.mode ?? null,
    streaming: streaming === undefined ? null : streaming ? 'on' : 'off',
    system_prompt: config.system_prompt ?? null,
    tools: config.tools ?? null,
    mcp_servers: config.mcp_servers ?? null,
    max_tokens: toText(config.max_tokens),
    context_limit: toText(config.context_limit),
    max_steps: toText(config.max_steps),
    idle_timeout_s: toText(config.idle_timeout_s),
    approval: config.approval ?? null,
    pinned: config.pinned ?? null,
    compaction: toText(config.compaction),
    client_tools: toText(config.client_tools),
    parameters: toText(config.parameters),
    limits: toText(config.limits),
    output_schema: toText(config.output_schema),
    output_retries: toText(config.output_retries),
  };
}

/** The text of a number, or of JSON. */
function toText(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value, null, 2);
}
