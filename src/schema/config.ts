/** The config of a worker, in the API and in roles of the config file. */
import { Type, type Static } from 'typebox';
import { CONTEXT_LIMIT } from '../core/compaction/settings.ts';
import { PINNED } from '../core/conversation/pinned.ts';
import type { Json } from '../core/json.ts';
import { LIMITS } from '../core/limits.ts';
import { RESERVED_PARAMETERS } from '../core/model/parameters.ts';
import { OUTPUT_RETRIES, OUTPUT_SCHEMA_BYTES } from '../core/run/output.ts';
import { APPROVALS, MOST_RULES, TOOL_GLOB } from '../core/run/policy.ts';
import { MODES } from '../core/workers/settings.ts';
import { MAX_BYTES, SETTINGS_BYTES, integer, nullable, oneOf, partial, plainText, ref, strict } from './build.ts';
import { Compaction } from './compaction.ts';
import { NAME } from './patterns.ts';

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
    name: Type.String({ pattern: NAME }),
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
      'never: rules require no approval; the tool itself still may. always: a person must approve each call. deny: the tool does not run, and the model gets the denial as result.',
    ),
  },
  { $id: 'ApprovalRule' },
);

export const OutputSchema = Type.Unsafe<{ [key: string]: Json } | false>({
  $id: 'OutputSchema',
  anyOf: [{ type: 'object' }, { const: false, type: 'boolean' }],
  description: `A JSON Schema (draft 2020-12 or 7) that the final answer of a job must match, of at most ${OUTPUT_SCHEMA_BYTES / 1024} KB. false: any text, also where the role or the config has a schema.`,
});

const LimitCount = integer(0, 1_000_000);

export const WorkerLimits = partial(
  { depth: LimitCount, children: LimitCount, workers: LimitCount },
  {
    $id: 'WorkerLimits',
    description:
      'Limits for workers below this one. depth: the deepest level (a worker without parent has 0). children: children of each worker. workers: workers of the tree that may work at once. The lowest of the values of the installation, the role and the config applies.',
  },
);

/** Every member is optional. */
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
      'Approval rules. The first matching rule of the config applies, then that of the role. A matching `deny` always applies. The stricter of the rule and the setting of the tool counts.',
  }),
  max_tokens: integer(1, MOST),
  context_limit: integer(
    CONTEXT_LIMIT.least,
    MOST,
    'Maximum number of tokens of a prompt. Default: 200000 for anthropic, 128000 for openai and openai-chat, 1000000 for simulated.',
  ),
  compaction: ref(Compaction),
  pinned: Type.Array(ref(PinnedText), { maxItems: PINNED.most }),
  max_steps: integer(1, MOST),
  output_schema: ref(OutputSchema),
  output_retries: integer(
    0,
    OUTPUT_RETRIES.most,
    `How often the model is asked again after an answer that does not match output_schema. Default: ${OUTPUT_RETRIES.default}.`,
  ),
  parameters: Parameters,
  idle_timeout_s: integer(
    1,
    LIMITS.idleTimeoutS,
    'Seconds without activity after which the context is archived. Not set: never.',
  ),
  limits: ref(WorkerLimits),
};

export const WorkerConfig = partial(members, {
  $id: 'WorkerConfig',
  description: 'Missing fields come from the role, then from the defaults. At most 64 KB of JSON.',
  [MAX_BYTES]: SETTINGS_BYTES,
});
type WorkerConfig = Static<typeof WorkerConfig>;

export type ConfigPatch = { [Member in keyof WorkerConfig]?: WorkerConfig[Member] | null };

export const ConfigPatch = Type.Unsafe<ConfigPatch>(
  partial(Object.fromEntries(Object.entries(members).map(([name, member]) => [name, nullable(member)])), {
    $id: 'ConfigPatch',
    description: 'Given fields replace current ones; null removes a field.',
    [MAX_BYTES]: SETTINGS_BYTES,
  }),
);

export const RoleDefinition = partial(members, {
  $id: 'RoleDefinition',
  description:
    'Settings of workers with this role; the config of a worker overrides them. Missing fields use the defaults. At most 64 KB of JSON.',
  [MAX_BYTES]: SETTINGS_BYTES,
});

/** A role of the config file. Unlike a role of the API, its JSON may be larger than 64 KB. */
export const FileRole = partial({
  ...members,
  // Also a schema of a library, which is an object or a function.
  output_schema: Type.Unsafe<object | false>({}),
});

export const RoleName = plainText(256, 1);

/** All that is referenced by name. */
export const CONFIG_COMPONENTS = [
  Compaction,
  PinnedText,
  ClientTool,
  ApprovalRule,
  OutputSchema,
  WorkerLimits,
] as const;
