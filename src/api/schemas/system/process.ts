/** Worker processes and their history. */
import { Type, type Static } from 'typebox';
import { nullable, oneOf, strict } from '../../../schema/build.ts';
import { Count, Instant, Page, Uuid, described, listOf } from '../common.ts';

export const WorkerProcess = strict(
  {
    id: Uuid,
    host: Type.String(),
    pid: Count,
    version: Type.String(),
    status: oneOf(
      ['running', 'paused', 'draining', 'stopped', 'lost'],
      'paused: its runs go on, and it begins no other. draining: it releases its runs, and then it ends. stopped: it ended by itself. lost: its heartbeats ended.',
    ),
    requested_status: oneOf(
      ['running', 'paused', 'draining'],
      'What the operator asked for last. The process follows with its next heartbeat.',
    ),
    can_drain: Type.Boolean({
      description: 'False: it also serves the API, or belongs to another program, so a request cannot end it.',
    }),
    started_at: Instant,
    heartbeat_at: Instant,
    ended_at: nullable(described(Instant, 'Null: it is alive.')),
    running: described(Count, 'Contexts that it runs now.'),
    concurrency: nullable(
      described(Count, 'Contexts it may run at once. Null: until its first metrics, and once it ended.'),
    ),
    providers: Type.Array(Type.String()),
    mcp_servers: Type.Array(Type.String()),
  },
  { $id: 'WorkerProcess' },
);
export type WorkerProcess = Static<typeof WorkerProcess>;

export const WorkerProcessList = listOf('WorkerProcessList', WorkerProcess);

export const ProcessQuery = strict({
  ...Page,
  live: Type.Optional(
    Type.Boolean({ description: 'True: only processes that are alive. False: only those that ended. Missing: all.' }),
  ),
});

export const RequestedProcess = strict(
  {
    id: Uuid,
    requested_status: oneOf(['running', 'paused', 'draining']),
  },
  { $id: 'RequestedProcess', description: 'The process follows with its next heartbeat, within about a second.' },
);
