/** A worker's config as clients write it. Members that the contract names and nobody built yet are in not-built.ts. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { RESERVED_PARAMETERS } from '../../core/settings.ts';
import { nullable, plainText, strict } from './common.ts';
import type { Json } from '../../core/json.ts';

const MOST = 1_000_000_000;

const Parameters = Type.Unsafe<{ [key: string]: Json }>({
  type: 'object',
  propertyNames: { not: { enum: [...RESERVED_PARAMETERS] } },
  description: `Passed to the provider as they are. Reserved: ${RESERVED_PARAMETERS.join(', ')}.`,
});

const members = {
  model: Type.String({ minLength: 1, maxLength: 256, description: 'provider/model' }),
  streaming: Type.Boolean(),
  system_prompt: Type.String({ maxLength: 1_000_000 }),
  mode: Type.Literal('act'),
  tools: Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 1_000, uniqueItems: true }),
  max_tokens: Type.Integer({ minimum: 1, maximum: MOST }),
  max_steps: Type.Integer({ minimum: 1, maximum: MOST }),
  parameters: Parameters,
};

export const WorkerConfig = strict(
  {
    model: Type.Optional(members.model),
    streaming: Type.Optional(members.streaming),
    system_prompt: Type.Optional(members.system_prompt),
    mode: Type.Optional(members.mode),
    tools: Type.Optional(members.tools),
    max_tokens: Type.Optional(members.max_tokens),
    max_steps: Type.Optional(members.max_steps),
    parameters: Type.Optional(members.parameters),
  },
  { $id: 'WorkerConfig', description: 'What is not given comes from the role, then from the defaults.' },
);

/** The same, where null takes a member back. */
export const ConfigPatch = strict(
  {
    model: Type.Optional(nullable(members.model)),
    streaming: Type.Optional(nullable(members.streaming)),
    system_prompt: Type.Optional(nullable(members.system_prompt)),
    mode: Type.Optional(nullable(members.mode)),
    tools: Type.Optional(nullable(members.tools)),
    max_tokens: Type.Optional(nullable(members.max_tokens)),
    max_steps: Type.Optional(nullable(members.max_steps)),
    parameters: Type.Optional(nullable(members.parameters)),
  },
  { $id: 'ConfigPatch', description: 'Given members replace those that stand; null takes one back.' },
);

export type ConfigPatch = Static<typeof ConfigPatch>;

export const RoleName = plainText(256, 1);
