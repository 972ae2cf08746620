/** The settings that apply to a worker or a role, with where each comes from. */
import { Type, type Static, type TSchema } from 'typebox';
import { COMPACTION_TYPES } from '../../../core/compaction/type.ts';
import { APPROVALS } from '../../../core/run/policy.ts';
import { EFFECTS } from '../../../core/tools/tool.ts';
import { TOOL_APPROVALS, TOOL_FIELDS, TOOL_STATES } from '../../../core/workers/explained.ts';
import { MODES } from '../../../core/workers/settings.ts';
import { SOURCES } from '../../../core/workers/source.ts';
import { nullable, oneOf, ref, strict } from '../../../schema/build.ts';
import { ClientTool, PinnedText } from '../../../schema/config.ts';
import { Count, JsonObject, Positive, described } from '../common.ts';

const SOURCE =
  'worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in.';

const Source = oneOf(SOURCES, SOURCE);

/** `inherited`: what applies if the own value is removed. */
function sourced<Value extends TSchema>(value: Value) {
  const members = { value, source: Source };
  return strict({
    ...members,
    inherited: nullable(
      strict(members, { description: 'What applies if the own value is removed. Null: there is no own value.' }),
    ),
  });
}

const Limit = strict({ value: Count, source: Source });

const Names = Type.Array(Type.String());

export const EffectiveRule = strict(
  { tool: Type.String(), decision: oneOf(APPROVALS), source: Source },
  { $id: 'EffectiveRule', description: 'An approval rule that applies, with where it comes from.' },
);

export const EffectiveTool = strict(
  {
    name: Type.String(),
    field: oneOf(TOOL_FIELDS, 'The field of the config that names the tool, or its server.'),
    source: oneOf(SOURCES, 'Where this field comes from.'),
    state: oneOf(
      TOOL_STATES,
      'offered: the model gets the tool. plan_mode: not in the mode plan. not_allowed: the operator does not allow it for the tenant. unknown: the API process does not have it.',
    ),
    effect: nullable(oneOf(EFFECTS)),
    approval: oneOf(
      TOOL_APPROVALS,
      'never: calls run. always: a person approves each call. deny: calls do not run. by_call: the tool decides for each call.',
    ),
    rule: nullable(
      described(
        ref(EffectiveRule),
        'The rule that decides. With by_call: it asks for each call, and the tool may deny.',
      ),
    ),
  },
  { $id: 'EffectiveTool' },
);

export const EffectiveSettings = strict(
  {
    model: sourced(Type.String()),
    streaming: sourced(Type.Boolean()),
    system_prompt: sourced(Type.String()),
    mode: sourced(oneOf(MODES)),
    tools: sourced(described(Names, 'Those that the tenant may use.')),
    client_tools: sourced(Type.Array(ref(ClientTool))),
    mcp_servers: sourced(described(Names, 'Those that the tenant may use.')),
    max_tokens: sourced(nullable(described(Positive, 'Null: the maximum of the model.'))),
    context_limit: sourced(Positive),
    compaction: sourced(
      strict({
        type: oneOf(COMPACTION_TYPES),
        threshold: Type.Number(),
        keep_turns: Count,
        model: nullable(described(Type.String(), 'Null: the model of the worker.')),
      }),
    ),
    pinned: sourced(Type.Array(ref(PinnedText))),
    max_steps: sourced(Positive),
    output_schema: sourced(nullable(described(JsonObject, 'Null: any text.'))),
    output_retries: sourced(Count),
    parameters: sourced(described(JsonObject, 'Those that are sent to the provider.')),
    idle_timeout_s: sourced(nullable(described(Positive, 'Null: the context is never archived.'))),
    limits: strict(
      { depth: Limit, children: Limit, workers: Limit },
      { description: 'The lowest of the values of the installation, the role and the config.' },
    ),
    approval: Type.Array(ref(EffectiveRule), {
      description: 'In the order in which they are tried: rules of the role follow those of the config.',
    }),
    offered_tools: Type.Array(ref(EffectiveTool), {
      description: 'All tools that the settings name, sorted by name, also those that the model does not get.',
    }),
    unknown_servers: described(
      Names,
      'MCP servers whose tools the API process does not know: they run elsewhere, or belong to a context or a tenant.',
    ),
    not_allowed: nullable(
      described(
        Type.String(),
        'Why jobs fail with not_allowed: the operator does not allow the role or the model for the tenant. Null: both are allowed.',
      ),
    ),
  },
  {
    $id: 'EffectiveSettings',
    description: 'What jobs use from their next step on: the config over the role over the defaults.',
  },
);
export type EffectiveSettings = Static<typeof EffectiveSettings>;

const Include = oneOf(['effective'], 'effective: the settings that apply, with where each comes from.');

export const WITH_EFFECTIVE = { include: Type.Optional(Include) };

/** In answers to a request with `include=effective`. */
export const INCLUDED = {
  effective: Type.Optional(
    nullable(
      described(
        ref(EffectiveSettings),
        'Only with include=effective. Null: the API process has no role of this name in its config file, or does not know the provider of the model.',
      ),
    ),
  ),
};
