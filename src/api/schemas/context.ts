/** Contexts on the wire. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { STATES } from '../../core/state.ts';
import { Count, Instant, Page, Title, Usage, Uuid, listOf, nullable, oneOf, ref, strict } from './common.ts';
import { ConfigPatch, RoleName, WorkerConfig } from './config.ts';
import { WaitingFor } from './job.ts';
import { CreateWorker } from './worker.ts';

export const Context = strict(
  {
    id: Uuid,
    worker_id: Uuid,
    parent_id: Type.Null({ description: 'The context it was forked from.' }),
    title: nullable(Type.String()),
    config: ref(WorkerConfig),
    state: oneOf(STATES),
    active_branch: Type.String(),
    branches: Type.Array(Type.String()),
    message_count: Count,
    turn_count: Count,
    request_count: Count,
    usage: ref(Usage),
    created_at: Instant,
    updated_at: Instant,
    expires_at: Type.Null(),
  },
  { $id: 'Context' },
);
export type Context = Static<typeof Context>;

export const ContextList = listOf('ContextList', Context);

export const ContextQuery = strict(Page);

const { name, role, config, parent_worker_id } = CreateWorker.properties;

export const CreateContext = strict(
  {
    title: Type.Optional(nullable(Title)),
    worker: Type.Optional(strict({ name: Type.Optional(name), role })),
    name: Type.Optional(name),
    role: Type.Optional(nullable(RoleName)),
    config,
    parent_worker_id,
  },
  { $id: 'CreateContext' },
);

export const PatchContext = strict(
  { title: Type.Optional(nullable(Title)), config: Type.Optional(ref(ConfigPatch)) },
  { $id: 'PatchContext' },
);

export const PutContext = strict(
  { title: Type.Optional(nullable(Title)), config: Type.Optional(ref(WorkerConfig)) },
  { $id: 'PutContext' },
);

export const ContextState = strict(
  {
    state: oneOf(STATES),
    since: Instant,
    job_id: nullable(Uuid),
    attempt: nullable(Count),
    waiting_for: Type.Array(ref(WaitingFor)),
    queue_position: nullable(
      Type.Integer({ minimum: 1, description: 'While it waits for a worker process: 1 is next.' }),
    ),
    why: Type.String(),
  },
  { $id: 'ContextState' },
);
export type ContextState = Static<typeof ContextState>;
