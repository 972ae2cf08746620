/** A config as form values, for a worker and for a role. An empty value means that the field is not set. */
import type { ApprovalRule, PinnedText, WorkerConfig } from 'nightshift/client';

export type ConfigDraft = {
  model: string;
  mode: '' | 'act' | 'plan';
  streaming: '' | 'on' | 'off';
  system_prompt: string;
  tools: readonly string[];
  mcp_servers: readonly string[];
  max_tokens: string;
  context_limit: string;
  max_steps: string;
  idle_timeout_s: string;
  approval: ApprovalRule[];
  pinned: PinnedText[];
  compaction: string;
  client_tools: string;
  parameters: string;
  limits: string;
};

export type ConfigMember = keyof WorkerConfig;

/** A field that the API adds is a compile error here, until the form has it. */
export const LABELS: Readonly<Record<keyof WorkerConfig, string>> = {
  model: 'Model',
  mode: 'Mode',
  streaming: 'Streaming',
  system_prompt: 'System prompt',
  tools: 'Tools',
  mcp_servers: 'MCP servers',
  max_tokens: 'Max tokens',
  context_limit: 'Context limit',
  max_steps: 'Max steps',
  idle_timeout_s: 'Idle timeout',
  approval: 'Approval rules',
  pinned: 'Pinned texts',
  compaction: 'Compaction',
  client_tools: 'Client tools',
  parameters: 'Parameters',
  limits: 'Limits',
};

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
  };
}

/** The text of a number, or of JSON. */
function toText(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value, null, 2);
}
