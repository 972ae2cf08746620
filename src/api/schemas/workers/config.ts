/** The config of a worker. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { CONTEXT_LIMIT } from '../../../core/compaction/settings.ts';
import { LIMITS } from '../../../core/limits.ts';
import { PINNED } from '../../../core/conversation/pinned.ts';
import { APPROVALS, MOST_RULES, TOOL_GLOB } from '../../../core/run/policy.ts';
import { RESERVED_PARAMETERS } from '../../../core/model/parameters.ts';
import { MODES } from '../../../core/workers/settings.ts';
import { MAX_BYTES, SETTINGS_BYTES, nullable, oneOf, plainText, ref, strict } from '../common.ts';
import { Compaction } from '../contexts/compaction.ts';
import type { Json } from '../../../core/json.ts';

const MOST = 1_000_000_000;

const Parameters = Type.Unsafe<{ [key: string]: Json }>({
  type: 'object',
  propertyNames: { not: { enum: [...RESERVED_PARAMETERS] } },
  description: `Passed unchanged to the provider. Allowed parameters: see docs/providers.md. Reserved names: ${RESERVED_PARAMETERS.join(', ')}.`,
});

export const PinnedText = strict(
  {
    title: Type.String({ minLength: 1, maxLength: PINNED.title }),
    text: Type.String({ minLength: 1, maxLength: PINNED.text }),
  },
  { $id: 'PinnedText', description: 'Follows the system prompt in every prompt.' },
);

export const ClientTool = strict(
  {
    name: Type.String({ pattern: '^[a-zA-Z0-9_-]{1,64}$' }),
    description: Type.String({ minLength: 1, maxLength: 100_000 }),
    input_schema: Type.Unsafe<{ [key: string]: Json }>({
      type: 'object',
      required: ['type'],
      properties: { type: { const: 'object' } },
      additionalProperties: true,
      description: 'A JSON Schema (draft 2020-12 or 7) of an object.',
    }),
  },
  {
    $id: 'ClientTool',
    description: 'A tool that the client runs: a call waits until the client posts its result.',
  },
);

export const ApprovalRule = strict(
  {
    tool: Type.String({ pattern: TOOL_GLOB, description: 'Name of a tool; `*` matches any text.' }),
    decision: oneOf(
      APPROVALS,
      'never: the tool runs without approval. always: a person must approve each call. deny: the tool does not run, and the model gets the denial as result.',
    ),
  },
  { $id: 'ApprovalRule' },
);

const LimitCount = Type.Integer({ minimum: 0, maximum: 1_000_000 });

export const WorkerLimits = strict(
  {
    depth: Type.Optional(LimitCount),
    children: Type.Optional(LimitCount),
    workers: Type.Optional(LimitCount),
  },
  {
    $id: 'WorkerLimits',
    description:
      'Limits for workers below this one. depth: the deepest level (a worker without parent has 0). children: children of each worker. workers: workers of the tree that may work at once. The lowest of the values of the installation, the role and the config applies.',
  },
);

const members = {
  model: Type.String({ minLength: 1, maxLength: 256, description: 'provider/model' }),
  streaming: Type.Boolean(),
  system_prompt: Type.String({ maxLength: 1_000_000 }),
  mode: oneOf(MODES, 'plan: the model gets only tools without effect, and answers have the type plan.'),
  tools: Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 1_000, uniqueItems: true }),
  client_tools: Type.Array(ref(ClientTool), { maxItems: 200 }),
  mcp_servers: Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
    maxItems: 100,
    uniqueItems: true,
    description: 'Names of MCP servers in the config file. The worker gets all their tools.',
  }),
  approval: Type.Array(ref(ApprovalRule), {
    maxItems: MOST_RULES,
    description:
      'Approval rules. The first matching rule of the config applies, then that of the role, then the default of the tool. A matching `deny` always applies.',
  }),
  max_tokens: Type.Integer({ minimum: 1, maximum: MOST }),
  context_limit: Type.Integer({
    minimum: CONTEXT_LIMIT.least,
    maximum: MOST,
    description:
      'Maximum number of tokens of a prompt. Default: 200000 for anthropic, 128000 for openai and openai-chat, 1000000 for simulated.',
  }),
  compaction: ref(Compaction),
  pinned: Type.Array(ref(PinnedText), { maxItems: PINNED.most }),
  max_steps: Type.Integer({ minimum: 1, maximum: MOST }),
  parameters: Parameters,
  limits: ref(WorkerLimits),
  idle_timeout_s: Type.Integer({
    minimum: 1,
    maximum: LIMITS.idleTimeoutS,
    description: 'Seconds without activity after which the context is archived. Not set: never.',
  }),
};

export const WorkerConfig = strict(
  {
    model: Type.Optional(members.model),
    streaming: Type.Optional(members.streaming),
    system_prompt: Type.Optional(members.system_prompt),
    mode: Type.Optional(members.mode),
    tools: Type.Optional(members.tools),
    client_tools: Type.Optional(members.client_tools),
    mcp_servers: Type.Optional(members.mcp_servers),
    approval: Type.Optional(members.approval),
    max_tokens: Type.Optional(members.max_tokens),
    context_limit: Type.Optional(members.context_limit),
    compaction: Type.Optional(members.compaction),
    pinned: Type.Optional(members.pinned),
    max_steps: Type.Optional(members.max_steps),
    parameters: Type.Optional(members.parameters),
    idle_timeout_s: Type.Optional(members.idle_timeout_s),
    limits: Type.Optional(members.limits),
  },
  {
    $id: 'WorkerConfig',
    description: 'Missing fields come from the role, then from the defaults. At most 64 KB of JSON.',
    [MAX_BYTES]: SETTINGS_BYTES,
  },
);

/** A config patch: null removes a field. */
export const ConfigPatch = strict(
  {
    model: Type.Optional(nullable(members.model)),
    streaming: Type.Optional(nullable(members.streaming)),
    system_prompt: Type.Optional(nullable(members.system_prompt)),
    mode: Type.Optional(nullable(members.mode)),
    tools: Type.Optional(nullable(members.tools)),
    client_tools: Type.Optional(nullable(members.client_tools)),
    mcp_servers: Type.Optional(nullable(members.mcp_servers)),
    approval: Type.Optional(nullable(members.approval)),
    max_tokens: Type.Optional(nullable(members.max_tokens)),
    context_limit: Type.Optional(nullable(members.context_limit)),
    compaction: Type.Optional(nullable(members.compaction)),
    pinned: Type.Optional(nullable(members.pinned)),
    max_steps: Type.Optional(nullable(members.max_steps)),
    parameters: Type.Optional(nullable(members.parameters)),
    idle_timeout_s: Type.Optional(nullable(members.idle_timeout_s)),
    limits: Type.Optional(nullable(members.limits)),
  },
  {
    $id: 'ConfigPatch',
    description: 'Given fields replace current ones; null removes a field.',
    [MAX_BYTES]: SETTINGS_BYTES,
  },
);

export type ConfigPatch = Static<typeof ConfigPatch>;

export const RoleName = plainText(256, 1);
