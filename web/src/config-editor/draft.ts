/** A config as form values, for a worker and for a role. An empty value means that the field is not set. */
import type { ApprovalRule, PinnedText, WorkerConfig } from 'nightshift/client';

export type ConfigMember = keyof WorkerConfig;

type Lists = {
  tools: readonly string[];
  mcp_servers: readonly string[];
  approval: ApprovalRule[];
  pinned: PinnedText[];
};

export type TextMember = Exclude<ConfigMember, keyof Lists>;

export type ConfigDraft = Lists & Record<TextMember, string>;

export function toConfigDraft(config: WorkerConfig): ConfigDraft {
  const { streaming } = config;
  return {
    model: config.model ?? '',
    mode: config.mode ?? '',
    streaming: streaming === undefined ? '' : streaming ? 'on' : 'off',
    system_prompt: config.system_prompt ?? '',
    tools: config.tools ?? [],
    mcp_servers: config.mcp_servers ?? [],
    max_tokens: toText(config.max_tokens),
    context_limit: toText(config.context_limit),
    max_steps: toText(config.max_steps),
    idle_timeout_s: toText(config.idle_timeout_s),
    approval: config.approval ?? [],
    pinned: config.pinned ?? [],
    compaction: toText(config.compaction),
    client_tools: toText(config.client_tools),
    parameters: toText(config.parameters),
    limits: toText(config.limits),
    output_schema: toText(config.output_schema),
    output_retries: toText(config.output_retries),
  };
}

/** The text of a number, or of JSON. */
function toText(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value, null, 2);
}
