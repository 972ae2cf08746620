/** Texts of the form for the config of a worker or a role. */
import type { ApprovalRule, EffectiveSettings, EffectiveTool, WorkerConfig } from 'nightshift/client';

const fields: Readonly<Record<keyof WorkerConfig, { label: string; hint?: string }>> = {
  model: { label: 'Model' },
  mode: { label: 'Mode' },
  streaming: { label: 'Streaming' },
  system_prompt: { label: 'System prompt' },
  tools: { label: 'Tools' },
  mcp_servers: { label: 'MCP servers', hint: 'Includes all tools of a server.' },
  max_tokens: { label: 'Max tokens', hint: 'Output tokens per answer.' },
  context_limit: { label: 'Context limit', hint: 'Tokens per prompt.' },
  max_steps: { label: 'Max steps', hint: 'Model calls per job.' },
  idle_timeout_s: { label: 'Idle timeout', hint: 'Seconds without activity until the context is archived.' },
  approval: { label: 'Approval rules', hint: 'The first rule that matches a tool applies. * matches any text.' },
  pinned: {
    label: 'Pinned texts',
    hint: 'Pinned texts follow the system prompt in every prompt and are never compacted.',
  },
  compaction: {
    label: 'Compaction',
    hint: 'JSON object: type (threshold, llm, none), threshold, keep_turns, model.',
  },
  client_tools: {
    label: 'Client tools',
    hint: 'JSON array of objects with name, description and input_schema.',
  },
  parameters: { label: 'Parameters', hint: 'JSON object, passed to the provider unchanged.' },
  limits: {
    label: 'Limits',
    hint: 'JSON object with the limits of workers below this one: depth, children, workers.',
  },
  output_schema: { label: 'Output schema', hint: 'JSON Schema that answers must match; false: any text.' },
  output_retries: {
    label: 'Output retries',
    hint: 'How often the model is asked again after an answer that does not match. Default: 2.',
  },
};

const modes: Readonly<Record<NonNullable<WorkerConfig['mode']>, string>> = {
  act: 'Act',
  plan: 'Plan: only tools without effects',
};

const decisions: Readonly<Record<ApprovalRule['decision'], string>> = {
  never: 'Run, unless the tool asks',
  always: 'Ask first',
  deny: 'Deny',
};

/** Where an inherited value comes from. */
const sources: Readonly<Record<EffectiveSettings['model']['source'], string>> = {
  worker: 'Set for this worker',
  role: 'Set by the role',
  environment: 'From the environment of the processes',
  config_file: 'From the config file',
  provider: 'From the provider',
  default: 'Default',
};

const states: Readonly<Record<Exclude<EffectiveTool['state'], 'offered'>, string>> = {
  plan_mode: 'not in plan mode',
  not_allowed: 'not allowed for this tenant',
  unknown: 'unknown to the API process',
};

const approvals: Readonly<Record<EffectiveTool['approval'], string>> = {
  never: 'runs without approval',
  always: 'needs approval',
  deny: 'denied',
  by_call: 'approval depends on the call',
};

/** What applies where a field has no value at all. */
const nothing: { readonly [Member in keyof WorkerConfig]?: string } = {
  max_tokens: 'Maximum of the model',
  idle_timeout_s: 'Never archived',
  output_schema: 'Any text',
  system_prompt: 'Empty',
};

/** Within a sentence. */
const inner = (text: string): string => `${text.charAt(0).toLowerCase()}${text.slice(1)}`;

export const configWords = {
  sources,
  ofRole: (role: string) => `From role ${role}`,
  nothing,
  none: 'None',
  override: 'Override',
  inherit: 'Use inherited',
  /** `from`: the source of the value that does not apply now. */
  overrides: (from: string) => `Own value. Without it: ${inner(from)}`,
  /** Of a field that is edited, and empty. */
  inherits: (from: string) => `No own value. It inherits: ${inner(from)}`,
  /** `message`: that of the failed jobs. */
  jobsFail: (message: string) => `With the saved settings, jobs fail: ${message}`,
  offered: {
    title: 'Tools as saved',
    none: 'The saved settings name no tools.',
    states,
    approvals,
    byField: (field: 'mcp_servers' | 'client_tools', from: string) =>
      `${field === 'mcp_servers' ? 'MCP server' : 'Client tool'}. ${from}`,
    withRule: (from: string, tool: string, ruleFrom: string) => `${from}. By rule ${tool}, ${inner(ruleFrom)}`,
    unknownServers: (servers: readonly string[]) =>
      `The API process does not know the tools of ${servers.length === 1 ? 'the MCP server' : 'the MCP servers'} ${servers.join(', ')}.`,
  },
  limits: {
    title: 'Limits that apply',
    names: { depth: 'Depth', children: 'Children per worker', workers: 'Active workers in the tree' },
  },
  title: 'Settings',
  fields,
  parts: {
    model: 'Model',
    tools: 'Tools and approval',
    limits: 'Limits',
    pinned: 'Pinned',
    more: 'More',
  },
  hasErrors: 'has errors',
  modelHint: (providers: readonly string[]) =>
    `provider/model. Configured providers: ${providers.length === 0 ? 'none' : providers.join(', ')}`,
  modes,
  streaming: { on: 'On', off: 'Off' },

  rules: {
    decisions,
    toolExample: 'run_*',
    tool: (rule: number) => `Tool of rule ${rule}`,
    decision: (rule: number) => `Decision of rule ${rule}`,
    remove: (rule: number) => `Remove rule ${rule}`,
    add: 'Add rule',
    ofRole: (role: string) => `Then the rules of role ${role}`,
  },
  pinned: {
    title: (text: number) => `Title of text ${text}`,
    text: (text: number) => `Text ${text}`,
    removeText: (text: number) => `Remove text ${text}`,
    remove: 'Remove',
    add: 'Add text',
  },
  faults: {
    above0: 'Enter a whole number above 0.',
    from0: 'Enter a whole number, 0 or above.',
    object: 'Enter a JSON object.',
    array: 'Enter a JSON array.',
  },
} as const;
