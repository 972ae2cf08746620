/** What a stream tells: the data of each event, by its name. */
import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import { COMPACTOR_TYPES } from '../../core/compaction/type.ts';
import { IMPORT_FORMATS } from '../../core/event.ts';
import { RESOLUTIONS } from '../../core/execution.ts';
import { INTERRUPT_MODES, JOB_STATUSES } from '../../core/job.ts';
import { MESSAGE_ROLES, MESSAGE_TYPES } from '../../core/message.ts';
import { STATES } from '../../core/state.ts';
import { CALL_STATUSES } from '../../core/tool-call.ts';
import { AnyJson, Count, Instant, JsonObject, Usage, Uuid, nullable, oneOf, strict } from './common.ts';

const context = { context_id: Uuid };

/** Events of older releases do not say what it cost. */
const SUMMARY_USAGE = strict({ ...Usage.properties, cost: Type.Optional(Usage.properties.cost) });

const delta = {
  ...context,
  message_id: Uuid,
  attempt: Type.Integer({ minimum: 1, description: 'A higher one voids the text of the lower.' }),
  delta: Type.String(),
  sequence: Type.Integer({ minimum: 0, description: 'Counts from 0 in each attempt.' }),
};

const job = { ...context, job_id: Uuid, status: oneOf(JOB_STATUSES), attempt: Count };
const toolCall = { ...context, tool_call_id: Uuid, name: Type.String(), status: oneOf(CALL_STATUSES) };

/** Data by the name of its event. */
export const EVENTS: Readonly<Record<string, TSchema & { $id?: string }>> = {
  StateChanged: strict(
    { ...context, new_state: oneOf(STATES), job_id: nullable(Uuid) },
    { $id: 'StateChangedEvent', description: 'Without an id where the state is fleeting.' },
  ),
  ContentDelta: strict(delta, { $id: 'ContentDeltaEvent', description: 'Without an id.' }),
  ThinkingDelta: strict(delta, { $id: 'ThinkingDeltaEvent', description: 'Without an id.' }),
  ContentSnapshot: strict(
    {
      ...context,
      message_id: Uuid,
      attempt: delta.attempt,
      text: Type.String({ description: 'All of it so far: takes the place of what was heard before.' }),
      sequence: Type.Integer({ minimum: 0, description: 'Deltas with a higher one follow.' }),
    },
    { $id: 'ContentSnapshotEvent', description: 'Without an id.' },
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
    { $id: 'MessageCompletedEvent', description: 'A message entered history, inputs and results too.' },
  ),
  ContextImported: strict(
    { ...context, format: oneOf(IMPORT_FORMATS), kept: nullable(JsonObject) },
    {
      $id: 'ContextImportedEvent',
      description: 'All before it came with an import. `kept`: what its source said that has no place here.',
    },
  ),
  ContextCompacted: strict(
    {
      ...context,
      compaction_id: Uuid,
      branch: Type.String(),
      type: oneOf(COMPACTOR_TYPES),
      upto_seq: Type.Integer({ minimum: 1, description: 'The last message that it stands for.' }),
      tokens_before: Count,
      tokens_after: Count,
      job_id: Uuid,
      model: nullable(Type.String()),
      usage: nullable(SUMMARY_USAGE),
      attempt: Count,
      started_at: Instant,
      first_token_at: nullable(Instant),
    },
    { $id: 'ContextCompactedEvent', description: 'The prompt shows something shorter from here on.' },
  ),
  MessagesRetracted: strict(
    { ...context, message_ids: Type.Array(Uuid), turn: Type.String(), mode: oneOf(INTERRUPT_MODES) },
    { $id: 'MessagesRetractedEvent', description: 'They left history with an interrupt.' },
  ),
  ContextCleared: strict(context, {
    $id: 'ContextClearedEvent',
    description: 'History begins anew: what was told before has left it, and turns count from 1.',
  }),
  JobStarted: strict(job, { $id: 'JobStartedEvent' }),
  JobFinished: strict(job, { $id: 'JobFinishedEvent', description: 'Nothing more of the job follows.' }),
  BranchCreated: strict(
    { ...context, branch: Type.String(), parent: Type.String(), fork_seq: Count },
    { $id: 'BranchCreatedEvent', description: 'It shares what its parent shows up to that number.' },
  ),
  BranchSwitched: strict(
    { ...context, branch: Type.String() },
    { $id: 'BranchSwitchedEvent', description: 'Inputs that name no branch go to it from now on.' },
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
        'A call is not run before somebody approves it. `ApprovalResolved` follows, or, where its job ends first, only `ToolCallFinished`.',
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
      description: '`input`: what the call is run with instead of what the model asked; null: as asked.',
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
      description:
        'A call was begun and nobody saw it end: it waits for a person who says what became of it.',
    },
  ),
  OutcomeResolved: strict(
    { ...context, tool_call_id: Uuid, name: Type.String(), job_id: Uuid, outcome: oneOf(RESOLUTIONS) },
    { $id: 'OutcomeResolvedEvent', description: 'Somebody said what became of it.' },
  ),
  InputRequested: strict(
    {
      ...context,
      tool_call_id: Uuid,
      name: Type.String(),
      job_id: Uuid,
      question: nullable(Type.String({ description: 'Null of a tool that the client runs.' })),
      choices: nullable(Type.Array(Type.String())),
      input: AnyJson,
    },
    {
      $id: 'InputRequestedEvent',
      description:
        'A call waits for its result from outside: the answer to a question, or what a client made of `input`.',
    },
  ),
  WorkerSpawned: strict(
    { ...context, tool_call_id: Uuid, name: Type.String(), worker_id: Uuid, job_id: Uuid },
    { $id: 'WorkerSpawnedEvent', description: 'The worker `name` was made by a call, and given a job.' },
  ),
  Heartbeat: strict({ timestamp: Instant }, { $id: 'HeartbeatEvent', description: 'Without an id.' }),
};

export const EventStream = Type.String({
  description: `Server-Sent Events: \`id\` is the context's seq, \`event\` a name, \`data\` JSON. Names, each with its data in the component \`<name>Event\`: ${Object.keys(EVENTS).join(', ')}. Others may come: they are to be ignored.`,
});

export const EventsQuery = strict({
  after: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        'Begins after this seq; 0 replays everything. Without it, and without `Last-Event-ID`: with what is live now. Beyond the last seq: as if it were that one.',
    }),
  ),
});

export const EventsHeaders = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({ pattern: '^[0-9]{1,15}$', description: 'As `after`, and wins over it.' }),
  ),
});
