/** Contexts on the wire. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { STATES } from '../../core/state.ts';
import {
  Archived,
  Count,
  Instant,
  Page,
  Title,
  Usage,
  Uuid,
  listOf,
  nullable,
  oneOf,
  plainText,
  ref,
  someOf,
  strict,
} from './common.ts';
import { ConfigPatch, RoleName, WorkerConfig } from './config.ts';
import { WaitingFor } from './job.ts';
import { CreateWorker } from './worker.ts';

export const LastMessage = strict(
  {
    id: Uuid,
    role: oneOf(['user', 'assistant']),
    text: Type.String({
      description: 'Its beginning; empty where it holds no text, or where the message is larger than 64 KB.',
    }),
    created_at: Instant,
  },
  {
    $id: 'LastMessage',
    description:
      'What was last said on the active branch; results of tools and calls of them are passed over.',
  },
);

export const Context = strict(
  {
    id: Uuid,
    worker_id: Uuid,
    worker_name: Type.String(),
    role: nullable(Type.String({ description: 'Of the worker.' })),
    last_message: nullable(ref(LastMessage)),
    parent_id: nullable(
      Type.String({ format: 'uuid', description: 'The context it was forked from; it may be gone by now.' }),
    ),
    title: nullable(Type.String()),
    config: ref(WorkerConfig),
    state: oneOf(STATES),
    active_branch: Type.String(),
    branches: Type.Array(Type.String()),
    message_count: Type.Integer({ minimum: 0, description: 'On all branches; what they share counts once.' }),
    turn_count: Type.Integer({ minimum: 0, description: 'Of the active branch.' }),
    request_count: Count,
    usage: ref(Usage),
    created_at: Instant,
    updated_at: Instant,
    expires_at: nullable(
      Type.String({
        format: 'date-time',
        description: 'When it is archived, if nothing happens in it. Null: never, or it is.',
      }),
    ),
    archived_at: nullable(
      Type.String({
        format: 'date-time',
        description: 'Archived: left out of lists, and back with its next input.',
      }),
    ),
  },
  { $id: 'Context' },
);
export type Context = Static<typeof Context>;

export const ContextList = listOf('ContextList', Context);

export const ContextQuery = strict({
  ...Page,
  state: Type.Optional(someOf(STATES, 'As they are shown.')),
  role: Type.Optional(RoleName),
  archived: Archived,
  q: Type.Optional(
    plainText(
      200,
      1,
      'Is said (upper or lower case, as the database knows it) in the title, the name or role of the worker, an id of the two, or the metadata of one of the last 20 jobs. A page looks at 2,000 contexts and about 16 MB of metadata: it may hold none and have a next one.',
    ),
  ),
});

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

export const ForkContext = strict(
  {
    from_message_id: Type.Optional(
      Type.String({
        format: 'uuid',
        description:
          'The last message that is copied, with the results of its tool calls, of whichever branch shows it. Else all of the active branch that is complete: what an unfinished job added is not.',
      }),
    ),
    title: Type.Optional(nullable(Title)),
  },
  { $id: 'ForkContext' },
);
