/** What the platform says about itself. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { STATES } from '../../core/state.ts';
import { Count, oneOf, strict } from './common.ts';

export const Health = strict({ status: Type.Literal('ok') }, { $id: 'Health' });

export const Readiness = strict(
  {
    status: oneOf(
      ['ok', 'degraded'],
      '`degraded`: the queue is away; work is found by sweeps, a little later.',
    ),
    postgres: Type.Literal('ok'),
    queue: oneOf(['ok', 'away']),
  },
  { $id: 'Readiness' },
);

export const Stats = strict(
  {
    queue_depth: Type.Integer({ minimum: 0, description: 'Queued jobs.' }),
    running: Type.Integer({ minimum: 0, description: 'Jobs that run.' }),
    waiting: Type.Integer({ minimum: 0, description: 'Jobs that wait for something.' }),
    by_state: Type.Unsafe<Record<string, number>>({
      type: 'object',
      propertyNames: { enum: [...STATES] },
      additionalProperties: Count,
      description: 'Contexts by state; states without one are left out.',
    }),
  },
  { $id: 'Stats' },
);
export type Stats = Static<typeof Stats>;

export const MetricsText = {
  description: 'Prometheus text format.',
  content: { 'text/plain': { schema: Type.String() } },
} as const;

export const OpenApiDocument = Type.Unsafe<object>({ type: 'object' });
