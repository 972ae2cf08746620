/** The events of a stream: the data of each event by its name. */
import { Type, type TSchema } from 'typebox';
import { COMPACTOR_TYPES } from '../../../core/compaction/type.ts';
import { IMPORT_FORMATS } from '../../../core/stream/event.ts';
import { RESOLUTIONS } from '../../../core/run/execution.ts';
import { INTERRUPT_MODES, JOB_STATUSES } from '../../../core/run/job.ts';
import { MESSAGE_ROLES, MESSAGE_TYPES } from '../../../core/conversation/message.ts';
import { STATES } from '../../../core/run/state.ts';
import { CALL_STATUSES } from '../../../core/tools/tool-call.ts';
import { Actor } from '../actor.ts';
import { JobFailure } from '../jobs/job.ts';
import { ToolProgress } from '../jobs/tool-call.ts';
import { AnyJson, Count, Instant, JsonObject, Positive, Usage, Uuid, described } from '../common.ts';
import { nullable, oneOf, ref, strict } from '../../../schema/build.ts';
import { EVENT_ID } from '../../../schema/patterns.ts';

const context = { context_id: Uuid };

const at = described(Instant, 'When it was stored; of an event without an id, when it was sent.');

/** Events of older releases have no cost. */
const SUMMARY_USAGE = strict({ ...Usage.properties, cost: Type.Optional(Usage.properties.cost) });

const delta = {
  ...context,
  message_id: Uuid,
  attempt: described(Positive, 'A higher attempt replaces the text of lower ones.'),
  delta: Type.String(),
  sequence: described(Count, 'Starts at 0 in each attempt.'),
};

const job = { ...context, job_id: Uuid, status: oneOf(JOB_STATUSES), attempt: Count };
const call = { ...context, tool_call_id: Uuid, name: Type.String() };
const toolCall = { ...call, status: oneOf(CALL_STATUSES) };
/** A call that waits for a person or a client, or did. */
const wait = { ...call, job_id: Uuid };

/** The data of each event, and what it means. */
const DATA: Readonly<Record<string, readonly [data: Record<string, TSchema>, description?: string]>> = {
  StateChanged: [
    {
      ...context,
      new_state: oneOf(STATES),
      job_id: nullable(Uuid),
      first_token_at: Type.Optional(
        described(Instant, 'Only of a transient state: when the first token of the answer arrived.'),
      ),
    },
    'Has no id if the state is transient.',
  ],
  ContentDelta: [delta, 'Has no id.'],
  ThinkingDelta: [delta, 'Has no id.'],
  ContentSnapshot: [
    {
      ...context,
      message_id: Uuid,
      attempt: delta.attempt,
      text: Type.String({ description: 'The whole text so far: replaces earlier text of the message.' }),
      sequence: described(Count, 'Later deltas have a higher sequence.'),
    },
    'Has no id.',
  ],
  MessageCompleted: [
    {
      ...context,
      message_id: Uuid,
      seq: Positive,
      turn: Type.String(),
      role: oneOf(MESSAGE_ROLES),
      type: oneOf(MESSAGE_TYPES),
    },
    'A message became part of the history; also for inputs and tool results.',
  ],
  MessageIncomplete: [
    {
      ...context,
      message_id: Uuid,
      seq: Positive,
      turn: Type.String(),
      role: oneOf(MESSAGE_ROLES),
      type: oneOf(MESSAGE_TYPES),
    },
    'The job ended before the model had finished this answer. Its text is stored, but is not part of the history.',
  ],
  ContextImported: [
    { ...context, format: oneOf(IMPORT_FORMATS), kept: nullable(JsonObject) },
    'All earlier history was imported. `kept`: data of the source that this version has no field for.',
  ],
  ContextCompacted: [
    {
      ...context,
      compaction_id: Uuid,
      branch: Type.String(),
      type: oneOf(COMPACTOR_TYPES),
      upto_seq: described(Positive, 'seq of the last replaced message.'),
      tokens_before: Count,
      tokens_after: Count,
      job_id: Uuid,
      model: nullable(Type.String()),
      usage: nullable(SUMMARY_USAGE),
      attempt: Count,
      started_at: Instant,
      first_token_at: nullable(Instant),
    },
    'Prompts are shorter from now on: old messages are replaced.',
  ],
  MessagesRetracted: [
    { ...context, message_ids: Type.Array(Uuid), turn: Type.String(), mode: oneOf(INTERRUPT_MODES) },
    'An interrupt removed these messages from the history.',
  ],
  ContextCleared: [
    context,
    'The history was cleared: earlier messages are no longer part of it, and turns restart at 1.',
  ],
  JobStarted: [job],
  JobFinished: [
    {
      ...job,
      output: nullable(
        strict({
          message_id: Uuid,
          text: described(Type.String(), 'Its first 4,000 UTF-16 units. A surrogate pair is never cut.'),
          truncated: described(Type.Boolean(), 'The output is longer.'),
        }),
      ),
      error: nullable(ref(JobFailure)),
    },
    'The last event of the job.',
  ],
  BranchCreated: [
    { ...context, branch: Type.String(), parent: Type.String(), fork_seq: Count },
    'The branch shares the messages of its parent up to fork_seq.',
  ],
  BranchSwitched: [
    { ...context, branch: Type.String() },
    'The branch is now active: it takes inputs that name no branch.',
  ],
  BranchDeleted: [{ ...context, branch: Type.String() }],
  ToolCallStarted: [toolCall],
  ToolCallFinished: [toolCall],
  ToolCallProgress: [
    { ...wait, attempt: Positive, progress: ref(ToolProgress) },
    'Has no id. How far a running call is: at most four times a second. The last one is kept with the call.',
  ],
  ApprovalRequested: [
    { ...wait, input: AnyJson, expires_at: nullable(Instant) },
    'A call waits for approval. `ApprovalResolved` follows; if the job ends first, only `ToolCallFinished`.',
  ],
  ApprovalResolved: [
    {
      ...wait,
      decision: oneOf(['approve', 'deny']),
      reason: nullable(Type.String()),
      input: AnyJson,
      remembered: Type.Boolean(),
      by: oneOf(['person', 'timeout']),
      actor: nullable(ref(Actor)),
    },
    '`input` replaces the input of the model. Null: unchanged. `actor` is null for the timeout.',
  ],
  OutcomeUnknown: [
    { ...wait, input: AnyJson, until: nullable(Instant) },
    'A call started, and its end is unknown after a crash. It waits for a person to resolve it.',
  ],
  OutcomeResolved: [{ ...wait, outcome: oneOf(RESOLUTIONS) }, 'A person resolved the unknown outcome.'],
  InputRequested: [
    {
      ...wait,
      question: nullable(Type.String({ description: 'Null for a client tool.' })),
      choices: nullable(Type.Array(Type.String())),
      input: AnyJson,
    },
    'A call waits for its result: a person answers the question, or the client runs the tool with `input`.',
  ],
  WorkerSpawned: [{ ...call, worker_id: Uuid, job_id: Uuid }, 'A call created the worker `name` and gave it a job.'],
  Heartbeat: [{ timestamp: Instant }, 'Has no id.'],
};

export const EVENTS: Readonly<Record<string, TSchema & { $id?: string }>> = Object.fromEntries(
  Object.entries(DATA).map(([name, [data, description]]) => [
    name,
    strict({ ...data, at }, { $id: `${name}Event`, ...(description !== undefined && { description }) }),
  ]),
);

export const EventStream = Type.String({
  description: `Server-Sent Events: \`id\` is the context's seq, \`event\` a name, \`data\` JSON. Names, each with its data in the component \`<name>Event\`: ${Object.keys(EVENTS).join(', ')}. Clients must ignore unknown names.`,
});

export const EventsQuery = strict({
  after: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        'Starts after this seq; 0 replays all events. Without it and without `Last-Event-ID`, only new events. A value beyond the last seq counts as the last seq.',
    }),
  ),
});

export const EventsHeaders = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({ pattern: EVENT_ID, description: 'Like `after`, and takes precedence.' }),
  ),
});
