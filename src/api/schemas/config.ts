/** A worker's config as clients write it. Members that the contract names and nobody built yet are in not-built.ts. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { CONTEXT_LIMIT } from '../../core/compaction/settings.ts';
import { LIMITS } from '../../core/limits.ts';
import { PINNED } from '../../core/pinned.ts';
import { APPROVALS, MOST_RULES, TOOL_GLOB } from '../../core/policy.ts';
import { RESERVED_PARAMETERS } from '../../core/parameters.ts';
import { MODES } from '../../core/settings.ts';
import { MAX_BYTES, SETTINGS_BYTES, nullable, oneOf, plainText, ref, strict } from './common.ts';
import { Compaction } from './compaction.ts';
import type { Json } from '../../core/json.ts';

const MOST = 1_000_000_000;

const Parameters = Type.Unsafe<{ [key: string]: Json }>({
  type: 'object',
  propertyNames: { not: { enum: [...RESERVED_PARAMETERS] } },
  description: `Passed to the provider as they are, where it may be given them (see docs/providers.md). Reserved: ${RESERVED_PARAMETERS.join(', ')}.`,
});

export const PinnedText = strict(
  {
    title: Type.String({ minLength: 1, maxLength: PINNED.title }),
    text: Type.String({ minLength: 1, maxLength: PINNED.text }),
  },
  { $id: 'PinnedText', description: 'Stands behind the system prompt in every prompt.' },
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
    description: 'A tool that the client runs: a call of it waits for the result that the client brings.',
  },
);

export const ApprovalRule = strict(
  {
    tool: Type.String({ pattern: TOOL_GLOB, description: 'The name of a tool; `*` stands for any text.' }),
    decision: oneOf(
      APPROVALS,
      'never: it is run. always: a person is asked first. deny: it is not run, and the model is told.',
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
      'For workers below it: how deep they may be (0 has no parent), how many children each may have, and how many of the tree may be at work at once. The narrowest of what the operator, the role and the config say holds.',
  },
);

const members = {
  model: Type.String({ minLength: 1, maxLength: 256, description: 'provider/model' }),
  streaming: Type.Boolean(),
  system_prompt: Type.String({ maxLength: 1_000_000 }),
  mode: oneOf(MODES, 'plan: only tools without effect are offered, and answers are of type plan.'),
  tools: Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 1_000, uniqueItems: true }),
  client_tools: Type.Array(ref(ClientTool), { maxItems: 200 }),
  mcp_servers: Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
    maxItems: 100,
    uniqueItems: true,
    description: 'Names of MCP servers of the config file: all the tools that they offer.',
  }),
  approval: Type.Array(ref(ApprovalRule), {
    maxItems: MOST_RULES,
    description:
      'Before which tools a person is asked: the first rule that names a tool holds; then those of the role; then what the tool says itself. `deny` holds wherever it stands.',
  }),
  max_tokens: Type.Integer({ minimum: 1, maximum: MOST }),
  context_limit: Type.Integer({
    minimum: CONTEXT_LIMIT.least,
    maximum: MOST,
    description:
      'Tokens of a prompt. Where nobody says it: 200000 with anthropic, 128000 with openai and openai-chat, 1000000 with simulated.',
  }),
  compaction: ref(Compaction),
  pinned: Type.Array(ref(PinnedText), { maxItems: PINNED.most }),
  max_steps: Type.Integer({ minimum: 1, maximum: MOST }),
  parameters: Parameters,
  limits: ref(WorkerLimits),
  idle_timeout_s: Type.Integer({
    minimum: 1,
    maximum: LIMITS.idleTimeoutS,
    description:
      'Seconds after which its context is archived, where nothing happens in it. Not given: never.',
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
    description: 'What is not given comes from the role, then from the defaults. At most 64 KB of JSON.',
    [MAX_BYTES]: SETTINGS_BYTES,
  },
);

/** The same, where null takes a member back. */
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
    description: 'Given members replace those that stand; null takes one back.',
    [MAX_BYTES]: SETTINGS_BYTES,
  },
);

export type ConfigPatch = Static<typeof ConfigPatch>;

export const RoleName = plainText(256, 1);
