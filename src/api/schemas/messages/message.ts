/** Messages in the API, and bodies that clients post. */
import { Type, type Static } from 'typebox';
import { DELIVERIES } from '../../../commands/inputs/posted-input.ts';
import { LONGEST_DELAY_S } from '../../../core/run/delay.ts';
import { MESSAGE_ROLES, MESSAGE_TYPES } from '../../../core/conversation/message.ts';
import { UNFINISHED_STATUSES } from '../../../core/run/job.ts';
import {
  AnyJson,
  Instant,
  Metadata,
  Order,
  Page,
  Positive,
  TurnName,
  Usage,
  UserName,
  Uuid,
  byType,
  described,
  listOf,
  someOf,
} from '../common.ts';
import { Retraction } from './retraction.ts';
import { MessageToolCall } from '../jobs/tool-call.ts';
import { nullable, oneOf, ref, strict } from '../../../schema/build.ts';
import { OutputSchema } from '../../../schema/config.ts';
import { BASE64, DOCUMENT_TYPE, HTTP_URL, PLAIN_TEXT, TURN } from '../../../schema/patterns.ts';

const Base64 = Type.String({ minLength: 1, pattern: BASE64 });
const HttpUrl = Type.String({ pattern: HTTP_URL, maxLength: 8_192 });

export const UrlSource = strict({ type: Type.Literal('url'), url: HttpUrl }, { $id: 'UrlSource' });

export const ImageData = strict(
  {
    type: Type.Literal('base64'),
    media_type: oneOf(['image/png', 'image/jpeg', 'image/gif', 'image/webp']),
    data: Base64,
  },
  { $id: 'ImageData' },
);
export const ImageSource = byType('ImageSource', [ImageData, UrlSource]);

export const DocumentData = strict(
  {
    type: Type.Literal('base64'),
    media_type: Type.String({ pattern: DOCUMENT_TYPE }),
    data: Base64,
  },
  { $id: 'DocumentData' },
);
export const DocumentSource = byType('DocumentSource', [DocumentData, UrlSource]);

export const TextInput = strict(
  { type: Type.Literal('text'), text: Type.String({ minLength: 1 }) },
  { $id: 'TextInput' },
);
export const ImageInput = strict({ type: Type.Literal('image'), source: ref(ImageSource) }, { $id: 'ImageInput' });
export const DocumentInput = strict(
  {
    type: Type.Literal('document'),
    source: ref(DocumentSource),
    title: Type.Optional(Type.String({ maxLength: 500 })),
  },
  { $id: 'DocumentInput' },
);
export const InputBlock = byType('InputBlock', [TextInput, ImageInput, DocumentInput]);

/** The name of an existing branch. */
export const BranchName = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: PLAIN_TEXT,
  description: 'Default: the active branch.',
  examples: ['main'],
});

const MaxSteps = Type.Integer({ minimum: 1, maximum: 1_000_000_000 });

export const ofAnyJob = {
  priority: Type.Optional(
    // Without `default`, which would fill it in: then nothing tells whether the request gave it.
    Type.Integer({ minimum: 1, maximum: 10, description: '1 is the highest priority. Default: 5.' }),
  ),
  metadata: Type.Optional(Metadata),
  max_steps: Type.Optional(MaxSteps),
  output_schema: Type.Optional(ref(OutputSchema)),
  deadline: Type.Optional(Instant),
};

/** Of a message post: when its job joins the queue. At most one of the two is given. */
const ofDelay = {
  after_s: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: LONGEST_DELAY_S,
      description:
        'Delays the job by so many seconds, at most 366 days. Until then its status is delayed, and it holds up no other input. Only with delivery queue, and not together with at.',
    }),
  ),
  at: Type.Optional(
    described(
      Instant,
      'Delays the job until this time, at most 366 days from now. A time that has passed means at once. Only with delivery queue, and not together with after_s.',
    ),
  ),
};

/** Of a message post. */
export const NamedWebhook = strict(
  { id: Uuid },
  {
    $id: 'NamedWebhook',
    description:
      'A webhook that receives job.waiting and job.finished of this job as well, whatever its events and its filter. Not for tokens.',
  },
);
const webhook = Type.Optional(ref(NamedWebhook));

/** Of a post to an existing context. */
const optionsOf = Type.Optional(
  described(
    Uuid,
    'A job of this context, such as one that failed. Options that are missing here are those of that job: priority, metadata, max_steps, output_schema, a deadline that has not passed, and an active webhook. Not for tokens.',
  ),
);

/** Options of a job of an existing context, with or without an input. */
export const ofJob = { branch: Type.Optional(BranchName), user: Type.Optional(UserName), ...ofAnyJob };

export const Content = Type.Union([
  Type.String({ minLength: 1 }),
  Type.Array(ref(InputBlock), { minItems: 1, maxItems: 1_000 }),
]);

export const PostMessage = strict(
  {
    content: Content,
    delivery: Type.Optional(
      oneOf(
        DELIVERIES,
        'What to do while a job is unfinished. queue: wait behind it; if a question waits for an answer and the priority is the default, the input answers the oldest question. steer: join the running job at its next step, if it is of the same user; the job keeps its metadata, priority, max_steps and deadline, and an output_schema is refused. interrupt: replace the job. reject: refuse the input.',
      ),
    ),
    ...ofJob,
    ...ofDelay,
    webhook,
    options_of: optionsOf,
  },
  { $id: 'PostMessage' },
);

/** The context is new: there is no other job and no other branch. */
export const FirstMessage = strict(
  { content: Content, ...ofAnyJob, ...ofDelay, webhook },
  {
    $id: 'FirstMessage',
    description: 'The first input of a new worker: a message post without `delivery` and `branch`.',
  },
);

export const ResultInput = byType('ResultInput', [TextInput, ImageInput]);

/** The result of a tool call that a person or a client posts. */
export const PostResult = strict(
  {
    content: Type.Union([Type.String(), Type.Array(ref(ResultInput), { minItems: 1, maxItems: 1_000 })]),
    is_error: Type.Optional(Type.Boolean({ description: 'The model sees the result as a failed call.' })),
  },
  { $id: 'PostResult' },
);

export const PatchMessage = strict(
  {
    content: Type.Optional(Content),
    position: Type.Optional(
      described(Positive, 'Position in the queue; 1 is next. A value beyond the end means the end.'),
    ),
  },
  { $id: 'PatchMessage' },
);

export const PostJob = strict({ ...ofJob, webhook, options_of: optionsOf }, { $id: 'PostJob' });

export const Accepted = strict(
  {
    job_id: Uuid,
    message_id: nullable(Uuid),
    context_id: Uuid,
    status: oneOf(
      UNFINISHED_STATUSES,
      'Status of the job: `queued`, unless the input is delayed (`after_s`, `at`), joined an unfinished job (`steer`), or answered its question.',
    ),
    stream_url: Type.String({ format: 'uri-reference' }),
  },
  { $id: 'Accepted' },
);
export type Accepted = Static<typeof Accepted>;

export const TextBlock = strict({ type: Type.Literal('text'), text: Type.String() }, { $id: 'TextBlock' });
export const ThinkingBlock = strict({ type: Type.Literal('thinking'), text: Type.String() }, { $id: 'ThinkingBlock' });
export const ToolUseBlock = strict(
  { type: Type.Literal('tool_use'), id: Uuid, name: Type.String(), input: AnyJson },
  { $id: 'ToolUseBlock' },
);
export const StoredData = strict(
  { type: Type.Literal('base64'), media_type: Type.String(), data: Type.String() },
  { $id: 'StoredData' },
);
export const StoredUrl = strict({ type: Type.Literal('url'), url: Type.String() }, { $id: 'StoredUrl' });
export const AnySource = byType('Source', [StoredData, StoredUrl]);
export const ImageBlock = strict({ type: Type.Literal('image'), source: ref(AnySource) }, { $id: 'ImageBlock' });
export const DocumentBlock = strict(
  { type: Type.Literal('document'), source: ref(AnySource), title: Type.Optional(Type.String()) },
  { $id: 'DocumentBlock' },
);
export const ResultPart = byType('ResultPart', [TextBlock, ImageBlock]);
export const ToolResultBlock = strict(
  {
    type: Type.Literal('tool_result'),
    tool_use_id: Uuid,
    content: Type.Union([Type.String(), Type.Array(ref(ResultPart))]),
    is_error: Type.Boolean(),
    compact_summary: Type.Optional(Type.String()),
  },
  { $id: 'ToolResultBlock' },
);
export const ContentBlock = byType('ContentBlock', [
  TextBlock,
  ThinkingBlock,
  ToolUseBlock,
  ToolResultBlock,
  ImageBlock,
  DocumentBlock,
]);
export type ContentBlock = Static<typeof ContentBlock>;

export const Message = strict(
  {
    id: Uuid,
    context_id: Uuid,
    branch: Type.String(),
    seq: nullable(described(Positive, 'Null while the message is delayed or queued.')),
    turn: nullable(TurnName),
    role: oneOf(MESSAGE_ROLES),
    type: oneOf(
      MESSAGE_TYPES,
      'partial: the text of an answer that the model did not finish, always retracted. correction: faults of the answer before it.',
    ),
    status: oneOf(['delayed', 'queued', 'completed', 'retracted']),
    retraction: nullable(ref(Retraction)),
    steered: Type.Boolean({ description: 'An input that joined a running job, or waits to join it.' }),
    compacted: Type.Boolean({ description: 'Prompts show a summary instead of this message.' }),
    content: Type.Array(ref(ContentBlock)),
    job_id: nullable(Uuid),
    sender_worker_id: nullable(described(Uuid, 'For an input: the worker that sent it. Null: a client.')),
    created_at: Instant,
    completed_at: nullable(Instant),
    model_id: nullable(Type.String()),
    provider_id: nullable(Type.String()),
    usage: nullable(ref(Usage)),
    finish_reason: nullable(Type.String()),
    error: Type.Null(),
    tool_calls: Type.Optional(
      Type.Array(ref(MessageToolCall), { description: 'The calls of this message. Only with include=tool_calls.' }),
    ),
  },
  { $id: 'Message' },
);
export type Message = Static<typeof Message>;

export const MessageList = listOf('MessageList', Message);

const INCLUDE = ['retracted', 'compacted', 'tool_calls'] as const;

export const MessageQuery = strict({
  ...Page,
  branch: Type.Optional(BranchName),
  turn: Type.Optional(Type.String({ pattern: TURN })),
  include: Type.Optional(
    someOf(
      INCLUDE,
      'What lists leave out by default. retracted: messages that an interrupt retracted, and the text of answers that were stopped, refused or failed. compacted: messages that prompts replace by a summary. tool_calls: the state of the calls of each message.',
    ),
  ),
  order: Order,
  from: Type.Optional(described(Uuid, 'The page starts with this message. Cannot be combined with cursor.')),
  at: Type.Optional(
    described(
      Instant,
      'The page starts with the first message that was completed at this time or later; with the order desc, with the last one before it. Cannot be combined with from or cursor.',
    ),
  ),
});
