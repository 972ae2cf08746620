/** Workers in the API. */
import { Type, type Static } from 'typebox';
import { JOB_CODES } from '../../../core/errors.ts';
import { WORKER_STATES } from '../../../db/read/contexts/worker-views.ts';
import { Archived, Count, Instant, Page, Positive, UserName, Uuid, described, listOf } from '../common.ts';
import { nullable, oneOf, plainText, ref, strict } from '../../../schema/build.ts';
import { FirstMessage } from '../messages/message.ts';
import { INCLUDED, WITH_EFFECTIVE } from './effective.ts';
import { ConfigPatch, RoleName, WorkerConfig } from '../../../schema/config.ts';

const Name = plainText(200, 1);

export const WorkerFailure = strict(
  { code: oneOf(JOB_CODES), message: Type.String(), job_id: Uuid, at: Instant },
  { $id: 'WorkerFailure' },
);

export const Worker = strict(
  {
    id: Uuid,
    name: Type.String(),
    user: nullable(described(Type.String(), 'The end user whose worker it is. Null: none.')),
    role: nullable(Type.String()),
    role_version: nullable(described(Positive, 'Null without a role, or for a role of the config file.')),
    config: ref(WorkerConfig),
    state: oneOf(WORKER_STATES),
    last_failure: nullable(ref(WorkerFailure)),
    context_id: Uuid,
    parent_worker_id: nullable(Uuid),
    depth: Count,
    created_at: Instant,
    updated_at: Instant,
  },
  { $id: 'Worker' },
);
export type Worker = Static<typeof Worker>;

/** Of one worker that is read. */
export const ReadWorker = strict({ ...Worker.properties, ...INCLUDED }, { $id: 'ReadWorker' });
export type ReadWorker = Static<typeof ReadWorker>;

export const ReadWorkerQuery = strict(WITH_EFFECTIVE);

export const WorkerList = listOf('WorkerList', Worker);

export const WorkerQuery = strict({
  ...Page,
  user: Type.Optional(UserName),
  parent_worker_id: Type.Optional(Uuid),
  role: Type.Optional(RoleName),
  state: Type.Optional(oneOf(WORKER_STATES)),
  archived: Archived,
});

export const CreateWorker = strict(
  {
    name: Name,
    user: Type.Optional(UserName),
    role: Type.Optional(nullable(RoleName)),
    config: Type.Optional(ref(WorkerConfig)),
    parent_worker_id: Type.Optional(nullable(Type.String())),
    input: Type.Optional(ref(FirstMessage)),
  },
  { $id: 'CreateWorker' },
);

export const CreatedWorker = strict(
  {
    ...Worker.properties,
    job_id: Type.Optional(described(Uuid, 'The job of `input`. Without `input` it is left out.')),
    message_id: Type.Optional(described(Uuid, 'The message of `input`. Without `input` it is left out.')),
    stream_url: Type.Optional(
      Type.String({
        format: 'uri-reference',
        description: 'The event stream from `input` on. Without `input` it is left out.',
      }),
    ),
  },
  { $id: 'CreatedWorker' },
);
export type CreatedWorker = Static<typeof CreatedWorker>;

export const PatchWorker = strict(
  {
    name: Type.Optional(Name),
    role: Type.Optional(nullable(RoleName)),
    config: Type.Optional(ref(ConfigPatch)),
  },
  { $id: 'PatchWorker' },
);
