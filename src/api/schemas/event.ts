/** What a stream tells: the data of each event, by its name. */
import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import { INTERRUPT_MODES, JOB_STATUSES } from '../../core/job.ts';
import { MESSAGE_ROLES, MESSAGE_TYPES } from '../../core/message.ts';
import { STATES } from '../../core/state.ts';
import { CALL_STATUSES } from '../../core/tool-call.ts';
import { Count, Instant, Uuid, nullable, oneOf, strict } from './common.ts';

const context = { context_id: Uuid };

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
  MessagesRetracted: strict(
    { ...context, message_ids: Type.Array(Uuid), turn: Type.String(), mode: oneOf(INTERRUPT_MODES) },
    { $id: 'MessagesRetractedEvent', description: 'They left history with an interrupt.' },
  ),
  JobStarted: strict(job, { $id: 'JobStartedEvent' }),
  JobFinished: strict(job, { $id: 'JobFinishedEvent', description: 'Nothing more of the job follows.' }),
  ToolCallStarted: strict(toolCall, { $id: 'ToolCallStartedEvent' }),
  ToolCallFinished: strict(toolCall, { $id: 'ToolCallFinishedEvent' }),
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
