/** The catalogue of tools, and what a tenant used of them. */
import { Type, type Static } from 'typebox';
import { APPROVALS } from '../../../core/run/policy.ts';
import { EFFECTS } from '../../../core/tools/tool.ts';
import { USE_STATUSES } from '../../../core/tools/tool-use.ts';
import { nullable, oneOf, ref, strict } from '../../../schema/build.ts';
import { Count, Instant, JsonObject, Positive, Uuid, described } from '../common.ts';
import { Quantiles } from './stats-history.ts';

export const Tool = strict(
  {
    name: Type.String(),
    source: oneOf(
      ['own', 'built_in', 'mcp', 'elsewhere', 'sent'],
      'own: config file. built_in: part of Nightshift. mcp: an MCP server. elsewhere: served by a worker process, unknown to this API process. sent: offered to models of the tenant in the last 90 days, and no process serves it. Tools of clients are not listed: the configs of their workers have them.',
    ),
    server: nullable(Type.String({ description: 'The MCP server. Null: it is none of an MCP server.' })),
    description: nullable(Type.String()),
    input_schema: nullable(described(JsonObject, 'JSON Schema of its arguments. Null: unknown here.')),
    effect: nullable(
      oneOf(EFFECTS, 'What a second call does. Null: unknown here, as for all of the following members.'),
    ),
    approval: nullable(
      oneOf([...APPROVALS, 'by_call'], 'The setting of the tool. Rules of configs and roles may make it stricter.'),
    ),
    answered_by: nullable(
      oneOf(
        ['tool', 'person', 'client', 'workers', 'timer'],
        'Where its results come from: the tool runs, a person is asked, a client runs it, other workers, or a time.',
      ),
    ),
    timeout_ms: nullable(described(Positive, 'Of one call, in milliseconds.')),
    served: Type.Boolean({ description: 'A live worker process serves it.' }),
    processes: nullable(described(Count, 'Live worker processes that serve it. Null: the caller is not the operator.')),
  },
  { $id: 'Tool' },
);
export type Tool = Static<typeof Tool>;

export const ToolList = strict({ data: Type.Array(ref(Tool)) }, { $id: 'ToolList' });

export const ToolFailure = strict(
  {
    at: Instant,
    code: Type.String({ description: 'Of a failed call. Otherwise how it ended: denied, expired, unknown.' }),
    context_id: Uuid,
    job_id: Uuid,
    tool_call_id: Uuid,
  },
  { $id: 'ToolFailure' },
);

const counts = Object.fromEntries(USE_STATUSES.map((status) => [status, Count])) as Record<
  (typeof USE_STATUSES)[number],
  typeof Count
>;

export const ToolUse = strict(
  {
    name: Type.String(),
    calls: described(Count, 'All ended calls, except those that were cancelled with their job.'),
    ...counts,
    codes: described(
      Type.Record(Type.String(), Count),
      'Failed calls by code. error: without a code. other: codes beyond the twentieth.',
    ),
    duration_ms: nullable(
      described(
        ref(Quantiles),
        'How long calls ran in worker processes, without waits for a person, estimated from a histogram. Null: none ran.',
      ),
    ),
    last_called_at: Instant,
    failures: Type.Array(ref(ToolFailure), { description: 'The last ones, at most five, newest first.' }),
  },
  { $id: 'ToolUse' },
);
export type ToolUse = Static<typeof ToolUse>;

export const ToolUseList = strict(
  { from: described(Instant, 'The beginning of the first hour.'), data: Type.Array(ref(ToolUse)) },
  {
    $id: 'ToolUseList',
    description:
      'Worker processes count calls as they end and store the figures once a minute, by hour. What a process had not stored when it was killed is missing.',
  },
);

export const ToolUseQuery = strict({
  hours: Type.Integer({ minimum: 1, maximum: 168, default: 24, description: 'The last hours, with the current one.' }),
});
