/** The installation, for the people who run it. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { APPROVALS } from '../../core/policy.ts';
import { EFFECTS } from '../../core/tool.ts';
import { Count, Instant, Uuid, nullable, oneOf, ref, strict } from './common.ts';

export const ProviderStatus = strict(
  {
    name: Type.String(),
    configured: Type.Boolean({ description: 'What calls it needs, such as a key, is set.' }),
    answered_at: nullable(
      Type.String({
        format: 'date-time',
        description:
          'Its last answer to a live worker process. Null: none, or the caller is not the operator.',
      }),
    ),
    failed_at: nullable(
      Type.String({ format: 'date-time', description: 'Its last call that brought none.' }),
    ),
    throttled_until: nullable(
      Type.String({ format: 'date-time', description: 'It asked not to be called until then.' }),
    ),
    throttle_reason: nullable(Type.String()),
  },
  { $id: 'ProviderStatus' },
);

export const ToolInfo = strict(
  {
    name: Type.String(),
    source: oneOf(
      ['own', 'built_in', 'mcp', 'elsewhere'],
      'own: of the config file. elsewhere: a worker process serves it that this process knows no more of.',
    ),
    description: nullable(Type.String()),
    effect: nullable(oneOf(EFFECTS)),
    approval: nullable(
      oneOf([...APPROVALS, 'by_call'], 'What the tool says itself; rules of configs and roles go before it.'),
    ),
    served: Type.Boolean({ description: 'A worker process that lives has it.' }),
  },
  { $id: 'ToolInfo' },
);

export const McpServerInfo = strict(
  {
    name: Type.String(),
    state: oneOf(['up', 'down', 'unknown'], 'up: in one worker process at least.'),
    tools: nullable(
      Type.Array(ref(ToolInfo), { description: 'Null: it runs in other processes, and is not known here.' }),
    ),
  },
  { $id: 'McpServerInfo' },
);

export const WorkerProcessInfo = strict(
  {
    id: Uuid,
    host: Type.String(),
    pid: Count,
    version: Type.String(),
    started_at: Instant,
    heartbeat_at: Instant,
    concurrency: nullable(
      Type.Integer({ minimum: 0, description: 'Contexts it may run at once; null until its first figures.' }),
    ),
    running: nullable(Type.Integer({ minimum: 0, description: 'Of those, some five seconds ago at most.' })),
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
  { $id: 'SystemLimits', description: 'By the names of the config file; null: there is none.' },
);

const Dollars = Type.String({ description: 'US dollars for a million tokens, decimal.' });

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
    mode: oneOf(['laptop', 'production'], 'laptop: one process is everything.'),
    default_model: Type.String(),
    providers: Type.Array(ref(ProviderStatus)),
    prices: Type.Array(ref(ModelPrice), {
      description: 'Of the config file; what another model costs is not known.',
    }),
    tools: Type.Array(ref(ToolInfo)),
    mcp_servers: Type.Array(ref(McpServerInfo)),
    limits: ref(SystemLimits),
    processes: nullable(
      Type.Array(ref(WorkerProcessInfo), {
        description: 'Live worker processes, newest first. Null: only the operator sees them.',
      }),
    ),
  },
  { $id: 'System' },
);
export type System = Static<typeof System>;
