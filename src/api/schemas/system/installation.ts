/** The installation, for operators. */
import { Type, type Static } from 'typebox';
import { APPROVALS } from '../../../core/run/policy.ts';
import { PROVIDERS } from '../../../core/model/model.ts';
import { EFFECTS } from '../../../core/tools/tool.ts';
import { SERVER_SCOPES } from '../../../core/tools/server-scope.ts';
import { FAILURE_REASONS } from '../../../core/tools/server-failure.ts';
import { Count, Instant, Uuid, described } from '../common.ts';
import { nullable, oneOf, ref, strict } from '../../../schema/build.ts';
import { Quantiles } from './stats-history.ts';

export const Throttle = strict(
  {
    id: Type.String({ description: 'For `DELETE /api/providers/{name}/throttles/{id}`.' }),
    model: Type.String(),
    reason: Type.String(),
    since: Instant,
    until: Instant,
    tenants: Type.Array(Type.String(), { description: 'The tenants whose calls the provider refused.' }),
  },
  { $id: 'Throttle' },
);
export type Throttle = Static<typeof Throttle>;

export const ProviderStatus = strict(
  {
    name: oneOf(PROVIDERS),
    configured: Type.Boolean({ description: 'The settings that calls need, such as a key, are set.' }),
    answered_at: nullable(
      described(Instant, 'Last answer to a live worker process. Null: none, or the caller is not the operator.'),
    ),
    failed_at: nullable(described(Instant, 'Last failed call.')),
    throttled_until: nullable(
      described(Instant, 'A model of the provider is throttled until then: the longest throttle.'),
    ),
    throttle_reason: nullable(Type.String()),
    throttles: nullable(
      Type.Array(ref(Throttle), { description: 'The longest first. Null: the caller is not the operator.' }),
    ),
  },
  { $id: 'ProviderStatus' },
);

export const ToolInfo = strict(
  {
    name: Type.String(),
    source: oneOf(
      ['own', 'built_in', 'mcp', 'elsewhere'],
      'own: config file. built_in: part of Nightshift. mcp: an MCP server. elsewhere: served by a worker process, unknown to this API process.',
    ),
    description: nullable(Type.String()),
    effect: nullable(oneOf(EFFECTS)),
    approval: nullable(
      oneOf([...APPROVALS, 'by_call'], 'The setting of the tool. Rules of configs and roles may make it stricter.'),
    ),
    served: Type.Boolean({ description: 'A live worker process serves it.' }),
  },
  { $id: 'ToolInfo' },
);

export const McpServerFailure = strict(
  {
    at: Instant,
    reason: oneOf(
      FAILURE_REASONS,
      'command_not_found: the command, or its working directory, does not exist. command_not_executable: the process may not execute it. exited: its process ended. refused: no process listens at the address. host_not_found: its name does not exist. host_unreachable: there is no route. tls_error: no secure connection, or its certificate is not trusted. unauthorized: HTTP 401 or 403. http_error: another HTTP status, or a redirect to another origin. timed_out: it did not answer. protocol_error: it answered with an error, or not in the protocol. lost: the connection broke. other: see the log.',
    ),
    code: nullable(
      described(
        Count,
        'exited: the exit code, or 128 and the number of the signal that ended the process. unauthorized, http_error: the HTTP status. Null: unknown, or another reason.',
      ),
    ),
    process_id: Uuid,
    host: Type.String({ description: 'Of the worker process whose connection failed.' }),
  },
  { $id: 'McpServerFailure' },
);
export type McpServerFailure = Static<typeof McpServerFailure>;

export const McpServerInfo = strict(
  {
    name: Type.String(),
    state: oneOf(['up', 'down', 'unknown'], 'up: running in at least one worker process.'),
    scope: nullable(
      oneOf(
        SERVER_SCOPES,
        'Who shares an instance: all contexts of a worker process, those of a tenant, or none. Null: the server is not in the config file of this API process.',
      ),
    ),
    tools: nullable(
      Type.Array(ref(ToolInfo), {
        description:
          'Null: unknown here. The server runs in other processes, has not answered yet, or has instances of tenants or contexts: `GET /api/tools` has those tools that were offered to models.',
      }),
    ),
    last_failure: nullable(
      described(
        ref(McpServerFailure),
        'The last failed or lost connection of a live worker process, also of a server that is up again. Null: none, or the caller is not the operator.',
      ),
    ),
    restarts: nullable(
      described(
        Count,
        'Reconnections by the live worker processes: many mean that the server dies, or cannot be reached. Null: the caller is not the operator.',
      ),
    ),
    calls: nullable(
      described(
        Type.Record(Type.String(), Count),
        'Calls by the live worker processes, by outcome: completed, failed, timed_out, unreachable, cut, aborted. Null: the caller is not the operator.',
      ),
    ),
    latency_ms: nullable(
      described(
        ref(Quantiles),
        'How long calls of the live worker processes took that the server answered, estimated from a histogram. Null: none, or the caller is not the operator.',
      ),
    ),
  },
  { $id: 'McpServerInfo' },
);
export type McpServerInfo = Static<typeof McpServerInfo>;

export const WorkerProcessInfo = strict(
  {
    id: Uuid,
    host: Type.String(),
    pid: Count,
    version: Type.String(),
    started_at: Instant,
    heartbeat_at: Instant,
    concurrency: nullable(described(Count, 'Contexts it may run at once. Null until its first metrics.')),
    running: nullable(described(Count, 'Contexts it runs; up to about five seconds old.')),
    providers: Type.Array(Type.String()),
    mcp_servers: Type.Array(Type.String()),
  },
  { $id: 'WorkerProcessInfo' },
);
export type WorkerProcessInfo = Static<typeof WorkerProcessInfo>;

const MaybeCount = nullable(Count);

export const SystemLimits = strict(
  {
    queued_inputs: Count,
    max_steps: Count,
    tool_result: Count,
    tool_timeout_ms: Count,
    depth: Count,
    children: Count,
    workers: Count,
    tenant_workers: MaybeCount,
    hops: Count,
    messages_per_minute: Count,
    archived_days: MaybeCount,
    import_bytes: Count,
    streams: Count,
  },
  { $id: 'SystemLimits', description: 'Limits by their names in the config file. Null: no limit.' },
);

const Dollars = Type.String({ description: 'US dollars per million tokens, decimal.' });

export const ModelPrice = strict(
  {
    model: Type.String({ description: '`provider/model`' }),
    input: Dollars,
    output: Dollars,
    cache_read: Dollars,
    cache_write: Dollars,
  },
  { $id: 'ModelPrice' },
);

export const System = strict(
  {
    version: Type.String(),
    mode: oneOf(['laptop', 'production'], 'laptop: one process is both API and worker.'),
    default_model: Type.String(),
    providers: Type.Array(ref(ProviderStatus)),
    prices: Type.Array(ref(ModelPrice), {
      description: 'Prices of the config file. Other models have no known price.',
    }),
    tools: Type.Array(ref(ToolInfo)),
    mcp_servers: Type.Array(ref(McpServerInfo)),
    limits: ref(SystemLimits),
    processes: nullable(
      Type.Array(ref(WorkerProcessInfo), {
        description: 'Live worker processes, newest first. Null: the caller is not the operator.',
      }),
    ),
  },
  { $id: 'System' },
);
export type System = Static<typeof System>;
