/** Health, readiness and statistics in the API. */
import { Type, type Static } from 'typebox';
import { STATES } from '../../../core/run/state.ts';
import { WAIT_REASONS } from '../../../core/run/wait-reason.ts';
import { Count, Instant, described } from '../common.ts';
import { oneOf, strict } from '../../../schema/build.ts';

export const Health = strict({ status: Type.Literal('ok') }, { $id: 'Health' });

export const Readiness = strict(
  {
    status: oneOf(
      ['ok', 'degraded'],
      '`degraded`: Redis does not answer. Worker processes find jobs by polling PostgreSQL, about once a second.',
    ),
    postgres: Type.Literal('ok'),
    queue: oneOf(['ok', 'away']),
  },
  { $id: 'Readiness' },
);

export const Stats = strict(
  {
    queue_depth: described(Count, 'Queued jobs.'),
    running: described(Count, 'Running jobs.'),
    waiting: described(Count, 'Waiting jobs.'),
    by_state: Type.Unsafe<Record<string, number>>({
      type: 'object',
      propertyNames: { enum: [...STATES] },
      additionalProperties: Count,
      description: 'Number of contexts by state. States without contexts are left out.',
    }),
    waits: Type.Array(
      strict({
        reason: oneOf(
          WAIT_REASONS,
          'slot: they wait for a worker process. throttle: their provider is throttled. retry: a model call failed and is repeated later. timer: a tool waits for a time. unsupported: no worker process that tried them serves their model, tools or role. recovery: their worker process could not continue.',
        ),
        contexts: Count,
        since: described(Instant, 'Since when the oldest of them waits.'),
      }),
      {
        description:
          'Why contexts with work do not run now, the most contexts first. Reasons without any are left out.',
      },
    ),
  },
  { $id: 'Stats' },
);
export type Stats = Static<typeof Stats>;

export const Load = strict(
  {
    slots_needed: described(Count, 'Contexts of all tenants that run or wait for a slot.'),
    running: described(Count, 'Of these, those that run.'),
    runnable: described(Count, 'Of these, those that wait for a slot.'),
    worker_processes: described(Count, 'Live worker processes.'),
  },
  { $id: 'Load' },
);

export const MetricsText = {
  description: 'Prometheus text format.',
  content: { 'text/plain': { schema: Type.String() } },
} as const;

export const OpenApiDocument = Type.Unsafe<object>({ type: 'object' });
