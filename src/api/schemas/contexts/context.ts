/** Contexts in the API. */
import { Type, type Static } from 'typebox';
import { STATES } from '../../../core/run/state.ts';
import {
  Archived,
  Count,
  Instant,
  Page,
  Positive,
  Title,
  Usage,
  UserName,
  Uuid,
  described,
  listOf,
  someOf,
} from '../common.ts';
import { nullable, oneOf, plainText, ref, strict } from '../../../schema/build.ts';
import { ConfigPatch, RoleName, WorkerConfig } from '../../../schema/config.ts';
import { WaitingFor } from '../jobs/job.ts';
import { CreateWorker } from '../workers/worker.ts';

export const LastMessage = strict(
  {
    id: Uuid,
    role: oneOf(['user', 'assistant']),
    text: Type.String({
      description: 'Start of the text. Empty if the message has no text or is larger than 64 KB.',
    }),
    created_at: Instant,
  },
  {
    $id: 'LastMessage',
    description: 'The last message on the active branch, without tool calls and tool results.',
  },
);

export const Context = strict(
  {
    id: Uuid,
    worker_id: Uuid,
    worker_name: Type.String(),
    user: nullable(described(Type.String(), 'The end user whose context it is. Null: none.')),
    role: nullable(Type.String({ description: 'Role of the worker.' })),
    last_message: nullable(ref(LastMessage)),
    parent_id: nullable(described(Uuid, 'The context it was forked from; may be deleted by now.')),
    title: nullable(Type.String()),
    first_input: nullable(
      described(
        Type.String(),
        'The beginning of its first input, on one line, up to 120 characters; about a second after it came. Null: none since the history began.',
      ),
    ),
    parent_worker_id: nullable(described(Uuid, 'The worker that its worker was created below.')),
    has_children: described(Type.Boolean(), 'Whether workers were created below its worker.'),
    config: ref(WorkerConfig),
    state: oneOf(STATES),
    active_branch: Type.String(),
    branches: Type.Array(Type.String()),
    message_count: described(Count, 'Messages on all branches; shared messages count once.'),
    turn_count: described(Count, 'Turns of the active branch.'),
    request_count: Count,
    usage: ref(Usage),
    created_at: Instant,
    updated_at: Instant,
    expires_at: nullable(
      described(Instant, 'When the context is archived if there is no activity. Null: never, or already archived.'),
    ),
    archived_at: nullable(
      described(
        Instant,
        'When the context was archived. Lists leave archived contexts out; the next input brings them back.',
      ),
    ),
  },
  { $id: 'Context' },
);
export type Context = Static<typeof Context>;

export const ContextList = listOf('ContextList', Context);

export const ContextQuery = strict({
  ...Page,
  user: Type.Optional(UserName),
  state: Type.Optional(someOf(STATES, 'State of the context.')),
  role: Type.Optional(RoleName),
  archived: Archived,
  spawned: Type.Optional(
    Type.Boolean({
      description:
        'True: only contexts of workers that were created below another one. False: only the others, and those whose parent is archived.',
    }),
  ),
  parent_worker_id: Type.Optional(described(Uuid, 'Only contexts of the workers directly below this one.')),
  sort: Type.Optional(
    oneOf(
      ['created', 'activity'],
      'created: newest first. activity: the newest 2,000 contexts, by `updated_at`, most recent first; not with `q`. Default: created.',
    ),
  ),
  q: Type.Optional(
    plainText(
      200,
      1,
      'Text to find, ignoring case, in the title, the first input, the name or role of the worker, the ids of context and worker, or the metadata of the last 20 jobs. A page searches 2,000 contexts and about 16 MB of metadata, so it may be empty and still have a next_cursor.',
    ),
  ),
});

const { name, user, role, config, parent_worker_id } = CreateWorker.properties;

export const CreateContext = strict(
  {
    title: Type.Optional(nullable(Title)),
    worker: Type.Optional(strict({ name: Type.Optional(name), role })),
    name: Type.Optional(name),
    user,
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
      described(
        Positive,
        'While the job waits for a worker process: its position among those of its user, or those without a user. Users take turns.',
      ),
    ),
    why: Type.String(),
  },
  { $id: 'ContextState' },
);
export type ContextState = Static<typeof ContextState>;

export const ForkContext = strict(
  {
    from_message_id: Type.Optional(
      described(
        Uuid,
        'The last copied message, on any branch; results of its tool calls are copied too. Without it all complete messages of the active branch are copied, but none of an unfinished job.',
      ),
    ),
    title: Type.Optional(nullable(Title)),
  },
  { $id: 'ForkContext' },
);
