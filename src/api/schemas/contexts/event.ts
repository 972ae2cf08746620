/** The events of a stream: the data of each event by its name. */
import { Type, type TSchema } from 'typebox';
import { COMPACTOR_TYPES } from '../../../core/compaction/type.ts';
import { IMPORT_FORMATS } from '../../../core/stream/event.ts';
import { RESOLUTIONS } from '../../../core/run/execution.ts';
import { INTERRUPT_MODES, JOB_STATUSES } from '../../../core/run/job.ts';
import { MESSAGE_ROLES, MESSAGE_TYPES } from '../../../core/conversation/message.ts';
import { STATES } from '../../../core/run/state.ts';
import { CALL_STATUSES } from '../../../core/tools/tool-call.ts';
import { AnyJson, Count, Instant, JsonObject, Usage, Uuid } from '../common.ts';
import { nullable, oneOf, strict } from '../../../schema/build.ts';
import { EVENT_ID } from '../../../schema/patterns.ts';

const context = { context_id: Uuid };

/** Events of older releases have no cost. */
const SUMMARY_USAGE = strict({ ...Usage.properties, cost: Type.Optional(Usage.properties.cost) });

const delta = {
  ...context,
  message_id: Uuid,
  attempt: Type.Integer({ minimum: 1, description: 'A higher attempt replaces the text of lower ones.' }),
  delta: Type.String(),
  sequence: Type.Integer({ minimum: 0, description: 'Starts at 0 in each attempt.' }),
};

const job = { ...context, job_id: Uuid, status: oneOf(JOB_STATUSES), attempt: Count };
const toolCall = { ...context, tool_call_id: Uuid, name: Type.String(), status: oneOf(CALL_STATUSES) };

export const EVENTS: Readonly<Record<string, TSchema & { $id?: string }>> = {
  StateChanged: strict(
    { ...context, new_state: oneOf(STATES), job_id: nullable(Uuid) },
    { $id: 'StateChangedEvent', description: 'Has no id if the state is transient.' },
  ),
  ContentDelta: strict(delta, { $id: 'ContentDeltaEvent', description: 'Has no id.' }),
  ThinkingDelta: strict(delta, { $id: 'ThinkingDeltaEvent', description: 'Has no id.' }),
  ContentSnapshot: strict(
    {
      ...context,
      message_id: Uuid,
      attempt: delta.attempt,
      text: Type.String({ description: 'The whole text so far: replaces earlier text of the message.' }),
      sequence: Type.Integer({ minimum: 0, description: 'Later deltas have a higher sequence.' }),
    },
    { $id: 'ContentSnapshotEvent', description: 'Has no id.' },
  ),
  MessageCompleted: strict(
    {
      ...context,
      message_id: Uuid,
      seq: Type.Integer({ minimum: 1 }),
      turn: Type.String(),
      role: oneOf(MESSAGE_ROLES),
      type: oneOf(MESSAGE_TYPES),
    },
    {
      $id: 'MessageCompletedEvent',
      description: 'A message became part of the history; also for inputs and tool results.',
    },
  ),
  ContextImported: strict(
    { ...context, format: oneOf(IMPORT_FORMATS), kept: nullable(JsonObject) },
    {
      $id: 'ContextImportedEvent',
      description: 'All earlier history was imported. `kept`: data of the source that this version has no field for.',
    },
  ),
  ContextCompacted: strict(
    {
      ...context,
      compaction_id: Uuid,
      branch: Type.String(),
      type: oneOf(COMPACTOR_TYPES),
      upto_seq: Type.Integer({ minimum: 1, description: 'seq of the last replaced message.' }),
      tokens_before: Count,
      tokens_after: Count,
      job_id: Uuid,
      model: nullable(Type.String()),
      usage: nullable(SUMMARY_USAGE),
      attempt: Count,
      started_at: Instant,
      first_token_at: nullable(Instant),
    },
    {
      $id: 'ContextCompactedEvent',
      description: 'Prompts are shorter from now on: old messages are replaced.',
    },
  ),
  MessagesRetracted: strict(
    { ...context, message_ids: Type.Array(Uuid), turn: Type.String(), mode: oneOf(INTERRUPT_MODES) },
    { $id: 'MessagesRetractedEvent', description: 'An interrupt removed these messages from the history.' },
  ),
  ContextCleared: strict(context, {
    $id: 'ContextClearedEvent',
    description: 'The history was cleared: earlier messages are no longer part of it, and turns restart at 1.',
  }),
  JobStarted: strict(job, { $id: 'JobStartedEvent' }),
  JobFinished: strict(job, { $id: 'JobFinishedEvent', description: 'The last event of the job.' }),
  BranchCreated: strict(
    { ...context, branch: Type.String(), parent: Type.String(), fork_seq: Count },
    {
      $id: 'BranchCreatedEvent',
      description: 'The branch shares the messages of its parent up to fork_seq.',
    },
  ),
  BranchSwitched: strict(
    { ...context, branch: Type.String() },
    {
      $id: 'BranchSwitchedEvent',
      description: 'The branch is now active: it takes inputs that name no branch.',
    },
  ),
  BranchDeleted: strict({ ...context, branch: Type.String() }, { $id: 'BranchDeletedEvent' }),
  ToolCallStarted: strict(toolCall, { $id: 'ToolCallStartedEvent' }),
  ToolCallFinished: strict(toolCall, { $id: 'ToolCallFinishedEvent' }),
  ApprovalRequested: strict(
    {
      ...context,
      tool_call_id: Uuid,
      name: Type.String(),
      job_id: Uuid,
      input: AnyJson,
      expires_at: nullable(Instant),
    },
    {
      $id: 'ApprovalRequestedEvent',
      description:
        'A call waits for approval. `ApprovalResolved` follows; if the job ends first, only `ToolCallFinished`.',
    },
  ),
  ApprovalResolved: strict(
    {
      ...context,
      tool_call_id: Uuid,
      name: Type.String(),
      job_id: Uuid,
      decision: oneOf(['approve', 'deny']),
      reason: nullable(Type.String()),
      input: AnyJson,
      remembered: Type.Boolean(),
      by: oneOf(['person', 'timeout']),
    },
    {
      $id: 'ApprovalResolvedEvent',
      description: '`input` replaces the input of the model. Null: unchanged.',
    },
  ),
  OutcomeUnknown: strict(
    {
      ...context,
      tool_call_id: Uuid,
      name: Type.String(),
      job_id: Uuid,
      input: AnyJson,
      until: nullable(Instant),
    },
    {
      $id: 'OutcomeUnknownEvent',
      description: 'A call started, and its end is unknown after a crash. It waits for a person to resolve it.',
    },
  ),
  OutcomeResolved: strict(
    { ...context, tool_call_id: Uuid, name: Type.String(), job_id: Uuid, outcome: oneOf(RESOLUTIONS) },
    { $id: 'OutcomeResolvedEvent', description: 'A person resolved the unknown outcome.' },
  ),
  InputRequested: strict(
    {
      ...context,
      tool_call_id: Uuid,
      name: Type.String(),
      job_id: Uuid,
      question: nullable(Type.String({ description: 'Null for a client tool.' })),
      choices: nullable(Type.Array(Type.String())),
      input: AnyJson,
    },
    {
      $id: 'InputRequestedEvent',
      description:
        'A call waits for its result: a person answers the question, or the client runs the tool with `input`.',
    },
  ),
  WorkerSpawned: strict(
    { ...context, tool_call_id: Uuid, name: Type.String(), worker_id: Uuid, job_id: Uuid },
    { $id: 'WorkerSpawnedEvent', description: 'A call created the worker `name` and gave it a job.' },
  ),
  Heartbeat: strict({ timestamp: Instant }, { $id: 'HeartbeatEvent', description: 'Has no id.' }),
};

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
