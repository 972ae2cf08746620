// Made from the OpenAPI document by `node scripts/client-schema.ts`; a test compares them. Not for editing.

/** Any JSON. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** The answer of `POST /api/contexts/{id}/messages`, `POST /api/workers/{id}/messages` and 3 more. */
export type Accepted = {
  job_id: string;
  message_id: string | null;
  context_id: string;
  /** Status of the job: `queued`, unless the input is delayed (`after_s`, `at`), joined an unfinished job (`steer`), or answered its question. */
  status: 'delayed' | 'queued' | 'running' | 'waiting';
  stream_url: string;
};

/** The answer of `POST /api/contexts/{id}/messages/{message_id}/edit` and `POST /api/contexts/{id}/messages/{message_id}/regenerate`. */
export type AcceptedOnBranch = {
  job_id: string;
  message_id: string | null;
  context_id: string;
  /** Status of the job: `queued`, unless the input is delayed (`after_s`, `at`), joined an unfinished job (`steer`), or answered its question. */
  status: 'delayed' | 'queued' | 'running' | 'waiting';
  stream_url: string;
  /** The new branch, which is now active. */
  branch: string;
};

/** Part of `ApprovalResolvedEvent`, `AuditEntry` and 5 more. */
export type Actor = {
  /** system: Nightshift itself, without a request. */
  kind: 'key' | 'token' | 'session' | 'operator' | 'system';
  id: string | null;
  user: string | null;
  on_behalf_of: string | null;
};

/** Part of `ApiKeyList`. */
export type ApiKey = {
  id: string;
  name: string;
  /** The beginning of the key, which is not secret. */
  prefix: string;
  scopes: ('read' | 'run' | 'configure' | 'approve' | 'keys')[];
  /** Beside those of the tenant. Null: not limited. */
  limits: {
    requests_per_s: number | null;
    concurrent_requests: number | null;
  };
  /** ISO 8601. */
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
  replaces: string | null;
};

/** The answer of `GET /api/keys`. */
export type ApiKeyList = {
  data: ApiKey[];
  next_cursor: string | null;
};

/** A call waits for approval. `ApprovalResolved` follows; if the job ends first, only `ToolCallFinished`. */
export type ApprovalRequestedEvent = {
  context_id: string;
  tool_call_id: string;
  name: string;
  job_id: string;
  input: Json;
  expires_at: string | null;
  /** When it was stored; of an event without an id, when it was sent. */
  at: string;
};

/** `input` replaces the input of the model. Null: unchanged. `actor` is null for the timeout. */
export type ApprovalResolvedEvent = {
  context_id: string;
  tool_call_id: string;
  name: string;
  job_id: string;
  decision: 'approve' | 'deny';
  reason: string | null;
  input: Json;
  remembered: boolean;
  by: 'person' | 'timeout';
  actor: Actor | null;
  /** When it was stored; of an event without an id, when it was sent. */
  at: string;
};

/** Part of `ConfigPatch`, `ReadRole` and 3 more. */
export type ApprovalRule = {
  /** Name of a tool; `*` matches any text. */
  tool: string;
  /** never: rules require no approval; the tool itself still may. always: a person must approve each call. deny: the tool does not run, and the model gets the denial as result. */
  decision: 'never' | 'always' | 'deny';
};

/** A decision on one call (`tool_call_id`) or on `all` waiting calls. */
export type ApproveCalls = {
  tool_call_id?: string;
  /** All calls of the context that wait for approval. */
  all?: true;
  decision: 'approve' | 'deny';
  reason?: string | null;
  /** Applies the decision to later calls of the tool in this context, and to other waiting ones. An approval is stored as a grant, a denial as a rule of the config. */
  remember?: boolean;
  /** With remember: how long the grant lasts, in seconds; 2592000 by default. */
  remember_for_s?: number;
  /** With a key: the person on whose behalf it decides. */
  user?: string;
  /** Replaces the input that the model sent. It must match the schema of the tool. */
  input?: { [key: string]: Json } | null;
};

/** Part of `AuditEntryList`. */
export type AuditEntry = {
  id: string;
  /** ISO 8601. */
  at: string;
  actor: Actor;
  action: 'key.created' | 'key.rotated' | 'key.revoked' | 'token.created' | 'tokens.revoked' | 'session.started' | 'session.ended' | 'tool_call.approved' | 'tool_call.denied' | 'tool_call.resolved' | 'grant.removed' | 'role.saved' | 'role.deleted' | 'schedule.created' | 'schedule.changed' | 'schedule.deleted' | 'schedule.run' | 'webhook.created' | 'webhook.changed' | 'webhook.rotated' | 'webhook.disabled' | 'webhook.deleted' | 'job.retried' | 'config.changed' | 'context.imported' | 'context.deleted' | 'worker.deleted' | 'tenant.created' | 'tenant.changed' | 'tenant.deleted' | 'throttle.ended' | 'process.paused' | 'process.resumed' | 'process.drained';
  /** The id or the name of what it was done to. */
  target: string;
  detail: { [key: string]: Json };
  request_id: string | null;
};

/** The answer of `GET /api/audit`. */
export type AuditEntryList = {
  data: AuditEntry[];
  next_cursor: string | null;
};

/** The body of `POST /api/session`. */
export type BeginSession = {
  /** The API key of a tenant, or the admin key. */
  key: string;
};

/** A tool call that had started. Its effects are not undone. */
export type BegunCall = {
  tool_call_id: string;
  name: string;
  effect: 'none' | 'idempotent' | 'once';
  status: 'pending' | 'started' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'denied' | 'expired' | 'unknown';
};

/** The answer of `POST /api/contexts/{id}/branches` and `PUT /api/contexts/{id}/branches/{name}`. */
export type Branch = {
  name: string;
  /** The active branch takes inputs that name no branch. */
  active: boolean;
  parent: string | null;
  fork_message_id: string | null;
  fork_seq: number | null;
  length: number | null;
  /** Number of its own visible messages, updated when a job ends on it. */
  message_count: number;
  /** Number of answered model calls on it, updated when a job ends. */
  request_count: number;
  usage: Usage;
  /** ISO 8601. */
  created_at: string;
};

/** The branch shares the messages of its parent up to fork_seq. */
export type BranchCreatedEvent = {
  context_id: string;
  branch: string;
  parent: string;
  fork_seq: number;
  /** When it was stored; of an event without an id, when it was sent. */
  at: string;
};

/** The data of the event `BranchDeleted`. */
export type BranchDeletedEvent = {
  context_id: string;
  branch: string;
  /** When it was stored; of an event without an id, when it was sent. */
  at: string;
};

/** The answer of `GET /api/contexts/{id}/branches`. */
export type BranchList = {
  data: Branch[];
  next_cursor: string | null;
};

/** The branch is now active: it takes inputs that name no branch. */
export type BranchSwitchedEvent = {
  context_id: string;
  branch: string;
  /** When it was stored; of an event without an id, when it was sent. */
  at: string;
};

/** One wait of a call. */
export type CallWait = {
  /** approval: a decision of a person. answer: the answer of a person. client: the result of a client tool. outcome: a person resolves the unknown outcome. workers: the jobs of other workers. timer: a point in time. */
  for: 'approval' | 'answer' | 'outcome' | 'workers' | 'timer' | 'client';
  /** ISO 8601. */
  asked_at: string;
  expires_at: string | null;
  ended_at: string | null;
};

/** The body of `POST /api/jobs/{id}/cancel`. */
export type CancelJob = {
  /** The response waits until the job has finished, at most this many milliseconds. */
  wait_ms?: number;
  reason?: string | null;
};

/** At least one of context_id, worker_id, user, role, status, kind, metadata. A job must match all given filters. */
export type CancelJobs = {
  context_id?: string;
  /** Includes all workers below it. */
  worker_id?: string;
  /** An end user of the tenant, by the name that its own service uses. With a token only the user of the token is allowed. */
  user?: string;
  role?: string;
  status?: 'delayed' | 'queued' | 'running' | 'waiting';
  kind?: 'input' | 'retry' | 'compact';
  /** Must be contained in the metadata of the job. */
  metadata?: { [key: string]: Json };
  reason?: string;
};

/** Number of unfinished jobs that this request cancels. */
export type Cancelled = {
  count: number;
};

/** Something of this resource may have changed. Has no id. */
export type ChangedEvent = {
  /** `contexts`: also their workers, jobs, messages and approvals. `all`: events may have been lost. */
  resource: 'contexts' | 'roles' | 'schedules' | 'webhooks' | 'keys' | 'all';
  /** Which ones. Empty: any. */
  ids: string[];
  /** When it was sent. */
  at: string;
};

/** The body of `POST /api/chat`. */
export type Chat = {
  message: string | InputBlock[];
  /** An end user of the tenant, by the name that its own service uses. With a token only the user of the token is allowed. */
  user?: string;
  /** From the first response: the context id of the session. Without it a new session starts. */
  session_id?: string;
};

/** The answer of `POST /api/chat`. */
export type ChatAccepted = {
  session_id: string;
  job_id: string;
  stream_url: string;
};

/** The job that a call gave to a child worker. */
export type ChildJob = {
  job_id: string;
  context_id: string;
  worker_id: string;
  /** Name of the worker. */
  name: string;
  status: 'delayed' | 'queued' | 'running' | 'waiting' | 'completed' | 'incomplete' | 'failed' | 'cancelled' | 'interrupted';
  usage: Usage;
  /** ISO 8601. */
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
};

/** A tool that the client runs: a call waits until the client posts its result. */
export type ClientTool = {
  name: string;
  description: string;
  /** A JSON Schema (draft 2020-12 or 7) of an object. */
  input_schema: {
    type: 'object';
    [key: string]: Json;
  };
};

/** The answer of `POST /api/contexts/{id}/compact`. */
export type CompactAccepted = {
  job_id: string;
};

/** Missing fields use the compaction settings of the worker. */
export type CompactContext = {
  type?: 'threshold' | 'llm';
  /** Number of last turns that stay uncompacted; with 0 only the last answer does. */
  keep_turns?: number;
  /** The model that writes the summary, as provider/model. */
  model?: string;
  /** An end user of the tenant, by the name that its own service uses. With a token only the user of the token is allowed. */
  user?: string;
};

/** Keeps prompts within context_limit. */
export type Compaction = {
  /** threshold (the default): prompts show summaries of old tool results. llm: a model summarises old turns. none: a prompt that is too long fails the job. */
  type?: 'threshold' | 'llm' | 'none';
  /** Share of context_limit that starts a compaction. Default: 0.8. */
  threshold?: number;
  /** Number of last turns that stay uncompacted; with 0 only the last answer does. Default: 4. */
  keep_turns?: number;
  /** The model that writes the summary, as provider/model. */
  model?: string;
};

/** Given fields replace current ones; null removes a field. */
export type ConfigPatch = {
  model?: string | null;
  streaming?: boolean | null;
  system_prompt?: string | null;
  mode?: 'act' | 'plan' | null;
  tools?: string[] | null;
  client_tools?: ClientTool[] | null;
  mcp_servers?: string[] | null;
  approval?: ApprovalRule[] | null;
  max_tokens?: number | null;
  context_limit?: number | null;
  compaction?: Compaction | null;
  pinned?: PinnedText[] | null;
  max_steps?: number | null;
  output_schema?: OutputSchema | null;
  output_retries?: number | null;
  parameters?: { [key: string]: Json } | null;
  idle_timeout_s?: number | null;
  limits?: WorkerLimits | null;
};

/** Part of `Message` and `Schedule`. */
export type ContentBlock = TextBlock | ThinkingBlock | ToolUseBlock | ToolResultBlock | ImageBlock | DocumentBlock;

/** Has no id. */
export type ContentDeltaEvent = {
  context_id: string;
  message_id: string;
  /** A higher attempt replaces the text of lower ones. */
  attempt: number;
  delta: string;
  /** Starts at 0 in each attempt. */
  sequence: number;
  /** When it was stored; of an event without an id, when it was sent. */
  at: string;
};

/** Has no id. */
export type ContentSnapshotEvent = {
  context_id: string;
  message_id: string;
  /** A higher attempt replaces the text of lower ones. */
  attempt: number;
  /** The whole text so far: replaces earlier text of the message. */
  text: string;
  /** Later deltas have a higher sequence. */
  sequence: number;
  /** When it was stored; of an event without an id, when it was sent. */
  at: string;
};

/** The answer of `POST /api/contexts`, `GET /api/contexts/{id}` and 5 more. */
export type Context = {
  id: string;
  worker_id: string;
  worker_name: string;
  user: string | null;
  role: string | null;
  last_message: LastMessage | null;
  parent_id: string | null;
  title: string | null;
  first_input: string | null;
  parent_worker_id: string | null;
  /** Whether workers were created below its worker. */
  has_children: boolean;
  config: WorkerConfig;
  state: 'Idle' | 'ProcessingUserMessage' | 'AwaitingLLMResponse' | 'StreamingLLMResponse' | 'ProcessingLLMResponse' | 'AwaitingToolApproval' | 'AwaitingInput' | 'AwaitingWorkers' | 'ExecutingTools' | 'TransientFailure' | 'PermanentFailure' | 'Stopped';
  active_branch: string;
  branches: string[];
  /** Messages on all branches; shared messages count once. */
  message_count: number;
  /** Turns of the active branch. */
  turn_count: number;
  request_count: number;
  usage: Usage;
  /** ISO 8601. */
  created_at: string;
  /** ISO 8601. */
  updated_at: string;
  expires_at: string | null;
  archived_at: string | null;
};

/** The history was cleared: earlier messages are no longer part of it, and turns restart at 1. */
export type ContextClearedEvent = {
  context_id: string;
  /** When it was stored; of an event without an id, when it was sent. */
  at: string;
};

/** Prompts are shorter from now on: old messages are replaced. */
export type ContextCompactedEvent = {
  context_id: string;
  compaction_id: string;
  branch: string;
  type: 'threshold' | 'llm';
  /** seq of the last replaced message. */
  upto_seq: number;
  tokens_before: number;
  tokens_after: number;
  job_id: string;
  model: string | null;
  usage: {
    /** Without tokens read from a cache. */
    input_tokens: number;
    output_tokens: number;
    cache_read_tokens: number;
    cache_write_tokens: number;
    cache_hit_ratio: number | null;
    cost?: string | null;
  } | null;
  attempt: number;
  /** ISO 8601. */
  started_at: string;
  first_token_at: string | null;
  /** When it was stored; of an event without an id, when it was sent. */
  at: string;
};

/** Part of `ContextCompactionList`. */
export type ContextCompaction = {
  id: string;
  context_id: string;
  branch: string;
  /** seq of its event. */
  seq: number;
  /** seq of the last replaced message. */
  upto_seq: number;
  type: 'threshold' | 'llm';
  summary: string | null;
  model: string | null;
  tokens_before: number;
  tokens_after: number;
  job_id: string;
  /** ISO 8601. */
  created_at: string;
};

/** The answer of `GET /api/contexts/{id}/compactions`. */
export type ContextCompactionList = {
  data: ContextCompaction[];
  next_cursor: string | null;
};

/** The full history in order, numbered without gaps. */
export type ContextExport = {
  format: 'nightshift.context';
  version: 1;
  context: ExportedContext;
  entries: ExportedEntry[];
  branches: ExportedBranch[];
};

/** All earlier history was imported. `kept`: data of the source that this version has no field for. */
export type ContextImportedEvent = {
  context_id: string;
  format: 'nightshift.context' | 'paired' | 'folder';
  kept: { [key: string]: Json } | null;
  /** When it was stored; of an event without an id, when it was sent. */
  at: string;
};

/** The answer of `GET /api/contexts`. */
export type ContextList = {
  data: Context[];
  next_cursor: string | null;
};

/** The answer of `GET /api/contexts/{id}/state`. */
export type ContextState = {
  state: 'Idle' | 'ProcessingUserMessage' | 'AwaitingLLMResponse' | 'StreamingLLMResponse' | 'ProcessingLLMResponse' | 'AwaitingToolApproval' | 'AwaitingInput' | 'AwaitingWorkers' | 'ExecutingTools' | 'TransientFailure' | 'PermanentFailure' | 'Stopped';
  /** ISO 8601. */
  since: string;
  job_id: string | null;
  attempt: number | null;
  waiting_for: WaitingFor[];
  queue_position: number | null;
  why: string;
};

/** The body of `POST /api/keys`. */
export type CreateApiKey = {
  /** For people. */
  name: string;
  /** Only those that the caller has. */
  scopes: ('read' | 'run' | 'configure' | 'approve' | 'keys')[];
  /** In the future. By default the key does not expire. */
  expires_at?: string;
  /** Limits of this key, beside those of its tenant. Not for a key with the scope keys. */
  limits?: {
    /** Requests in a second, refused ones too. */
    requests_per_s?: number;
    /** Requests that one API process serves at once, without event streams. */
    concurrent_requests?: number;
  };
  /** With the admin key: the tenant. None of its keys may be able to make others yet. */
  tenant?: string;
};

/** The body of `POST /api/contexts/{id}/branches`. */
export type CreateBranch = {
  /** Letters, digits, dots, dashes and underscores; starts with a letter or a digit. */
  name: string;
  /** Default: the active branch. */
  from_branch?: string;
  /** The last shared message; results of its tool calls are shared too. Without it all complete messages are shared, but none of an unfinished job. */
  from_message_id?: string;
  activate?: boolean;
};

/** The body of `POST /api/contexts`. */
export type CreateContext = {
  title?: string | null;
  worker?: {
    name?: string;
    role?: string | null;
  };
  name?: string;
  /** An end user of the tenant, by the name that its own service uses. With a token only the user of the token is allowed. */
  user?: string;
  role?: string | null;
  config?: WorkerConfig;
  parent_worker_id?: string | null;
};

/** The body of `POST /api/schedules`. */
export type CreateSchedule = {
  name: string;
  target: ScheduleTarget;
  content: string | InputBlock[];
  /** An end user of the tenant, by the name that its own service uses. With a token only the user of the token is allowed. */
  user?: string;
  /** Five fields: minute, hour, day of month, month, day of week. Exactly one of cron, every_s and at is set. */
  cron?: string;
  /** Seconds between two runs. The first is one interval after this is set. */
  every_s?: number;
  /** One run, at this time in the future. */
  at?: string;
  /** IANA time zone of cron. Default: UTC. */
  timezone?: string;
  /** What to do while the job of the last run is unfinished. queue: post the input. skip: post nothing. interrupt: cancel that job, and post the input. Default: queue. */
  overlap?: 'queue' | 'skip' | 'interrupt';
  /** Which occurrences run late that were missed by more than a minute, or during a pause. none: none of them. one: one run for all. all: each, but at most the newest 100. Default: one. */
  catch_up?: 'none' | 'one' | 'all';
  /** Each occurrence starts up to so many seconds late, but before the next one. Default: 0. */
  jitter_s?: number;
  /** Default: false. */
  paused?: boolean;
};

/** The body of `POST /api/tenants`. */
export type CreateTenant = {
  name: string;
  /** Null: as the config file says (`limits.tenant`), or no limit. */
  limits?: {
    weight?: number | null;
    requests_per_s?: number | null;
    concurrent_requests?: number | null;
    slots?: number | null;
    queued_jobs?: number | null;
    workers?: number | null;
    streams?: number | null;
    stored_mb?: number | null;
    upload_mb?: number | null;
    sql_ms?: number | null;
  };
  /** What its workers may use. `*` in a name stands for any characters; null allows everything. */
  allow?: {
    /** Names of tools, also those of MCP servers (`server__tool`). */
    tools?: string[] | null;
    /** Names of roles, of the API or the config file. */
    roles?: string[] | null;
    /** Names of MCP servers of the config file. */
    mcp_servers?: string[] | null;
    /** Names of models, `provider/model`. */
    models?: string[] | null;
  };
};

/** The body of `POST /api/tokens`. */
export type CreateToken = {
  /** The end user, by the name that your own service uses. */
  user: string;
  /** Only those that the caller has. */
  scopes: ('read' | 'run' | 'approve')[];
  /** The token sees these contexts and makes none. Without it, it sees and makes contexts of the user only. */
  context_ids?: string[];
  /** Part of the metadata of every job that the token makes. The user can read it, and cannot change it. */
  metadata?: { [key: string]: Json };
  /** Seconds until the token ends. */
  expires_in_s: number;
};

/** The body of `POST /api/webhooks`. */
export type CreateWebhook = {
  /** Of the receiver. https, unless the operator allows http. Redirects are not followed. */
  url: string;
  /** The events that it receives. */
  events: ('job.started' | 'job.waiting' | 'job.finished' | 'approval.requested' | 'approval.resolved' | 'worker.failed')[];
  filter?: WebhookFilter | null;
  /** disabled: nothing is sent, and events meanwhile are not kept for it. */
  status?: 'active' | 'disabled';
};

/** The body of `POST /api/workers`. */
export type CreateWorker = {
  name: string;
  /** An end user of the tenant, by the name that its own service uses. With a token only the user of the token is allowed. */
  user?: string;
  role?: string | null;
  config?: WorkerConfig;
  parent_worker_id?: string | null;
  input?: FirstMessage;
};

/** The answer of `POST /api/keys` and `POST /api/keys/{id}/rotate`. */
export type CreatedApiKey = {
  id: string;
  name: string;
  /** The beginning of the key, which is not secret. */
  prefix: string;
  scopes: ('read' | 'run' | 'configure' | 'approve' | 'keys')[];
  /** Beside those of the tenant. Null: not limited. */
  limits: {
    requests_per_s: number | null;
    concurrent_requests: number | null;
  };
  /** ISO 8601. */
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
  replaces: string | null;
  /** The key. It is shown only here. */
  key: string;
};

/** The answer of `POST /api/tokens`. */
export type CreatedToken = {
  /** The token. It is shown only here. */
  token: string;
  /** ISO 8601. */
  expires_at: string;
};

/** The answer of `POST /api/webhooks` and `POST /api/webhooks/{id}/rotate`. */
export type CreatedWebhook = {
  id: string;
  url: string;
  events: ('job.started' | 'job.waiting' | 'job.finished' | 'approval.requested' | 'approval.resolved' | 'worker.failed')[];
  filter: WebhookFilter | null;
  /** disabled: nothing is sent, and events meanwhile are not kept for it. */
  status: 'active' | 'disabled';
  disabled_reason: 'requested' | 'failing' | 'gone' | 'backlog' | null;
  /** ISO 8601. */
  created_at: string;
  /** ISO 8601. */
  updated_at: string;
  last_success_at: string | null;
  last_failure_at: string | null;
  last_error: string | null;
  failing_since: string | null;
  /** Deliveries that are neither delivered nor given up. */
  pending: number;
  /** Signs the deliveries. It is shown only here. */
  secret: string;
};

/** The answer of `POST /api/workers`. */
export type CreatedWorker = {
  id: string;
  name: string;
  user: string | null;
  role: string | null;
  role_version: number | null;
  config: WorkerConfig;
  state: 'inactive' | 'working' | 'waiting' | 'failed' | 'stopped';
  last_failure: WorkerFailure | null;
  context_id: string;
  parent_worker_id: string | null;
  depth: number;
  /** ISO 8601. */
  created_at: string;
  /** ISO 8601. */
  updated_at: string;
  /** The job of `input`. Without `input` it is left out. */
  job_id?: string;
  /** The message of `input`. Without `input` it is left out. */
  message_id?: string;
  /** The event stream from `input` on. Without `input` it is left out. */
  stream_url?: string;
};

/** Part of `DeliveryList`. */
export type Delivery = {
  /** Also the header webhook-id, the same in every attempt. */
  id: string;
  webhook_id: string;
  type: 'job.started' | 'job.waiting' | 'job.finished' | 'approval.requested' | 'approval.resolved' | 'worker.failed' | 'webhook.test';
  context_id: string | null;
  job_id: string | null;
  seq: number | null;
  /** failed: given up. */
  status: 'pending' | 'delivered' | 'failed';
  attempts: number;
  /** ISO 8601. */
  created_at: string;
  next_attempt_at: string | null;
  last_attempt_at: string | null;
  delivered_at: string | null;
  duration_ms: number | null;
  response_status: number | null;
  error: string | null;
};

/** The answer of `GET /api/webhooks/{id}/deliveries`. */
export type DeliveryList = {
  data: Delivery[];
  next_cursor: string | null;
};

/** Part of `ContentBlock`. */
export type DocumentBlock = {
  type: 'document';
  source: Source;
  title?: string;
};

/** Part of `DocumentSource`. */
export type DocumentData = {
  type: 'base64';
  media_type: string;
  data: string;
};

/** Part of `InputBlock`. */
export type DocumentInput = {
  type: 'document';
  source: DocumentSource;
  title?: string;
};

/** Part of `DocumentInput`. */
export type DocumentSource = DocumentData | UrlSource;

/** The body of `POST /api/contexts/{id}/messages/{message_id}/edit`. */
export type EditMessage = {
  content: string | InputBlock[];
  /** Letters, digits, dots, dashes and underscores; starts with a letter or a digit. */
  name?: string;
  /** What to do with an unfinished job, as in PostMessage. */
  delivery?: 'queue' | 'interrupt' | 'reject';
  /** An end user of the tenant, by the name that its own service uses. With a token only the user of the token is allowed. */
  user?: string;
  /** 1 is the highest priority. Default: 5. */
  priority?: number;
  metadata?: { [key: string]: Json };
  max_steps?: number;
  output_schema?: OutputSchema;
  /** ISO 8601. */
  deadline?: string;
};

/** An approval rule that applies, with where it comes from. */
export type EffectiveRule = {
  tool: string;
  decision: 'never' | 'always' | 'deny';
  /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
  source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
};

/** What jobs use from their next step on: the config over the role over the defaults. */
export type EffectiveSettings = {
  model: {
    value: string;
    /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
    source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    inherited: {
      value: string;
      /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
      source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    } | null;
  };
  streaming: {
    value: boolean;
    /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
    source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    inherited: {
      value: boolean;
      /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
      source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    } | null;
  };
  system_prompt: {
    value: string;
    /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
    source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    inherited: {
      value: string;
      /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
      source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    } | null;
  };
  mode: {
    value: 'act' | 'plan';
    /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
    source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    inherited: {
      value: 'act' | 'plan';
      /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
      source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    } | null;
  };
  tools: {
    /** Those that the tenant may use. */
    value: string[];
    /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
    source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    inherited: {
      /** Those that the tenant may use. */
      value: string[];
      /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
      source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    } | null;
  };
  client_tools: {
    value: ClientTool[];
    /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
    source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    inherited: {
      value: ClientTool[];
      /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
      source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    } | null;
  };
  mcp_servers: {
    /** Those that the tenant may use. */
    value: string[];
    /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
    source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    inherited: {
      /** Those that the tenant may use. */
      value: string[];
      /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
      source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    } | null;
  };
  max_tokens: {
    value: number | null;
    /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
    source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    inherited: {
      value: number | null;
      /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
      source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    } | null;
  };
  context_limit: {
    value: number;
    /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
    source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    inherited: {
      value: number;
      /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
      source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    } | null;
  };
  compaction: {
    value: {
      type: 'threshold' | 'llm' | 'none';
      threshold: number;
      keep_turns: number;
      model: string | null;
    };
    /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
    source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    inherited: {
      value: {
        type: 'threshold' | 'llm' | 'none';
        threshold: number;
        keep_turns: number;
        model: string | null;
      };
      /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
      source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    } | null;
  };
  pinned: {
    value: PinnedText[];
    /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
    source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    inherited: {
      value: PinnedText[];
      /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
      source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    } | null;
  };
  max_steps: {
    value: number;
    /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
    source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    inherited: {
      value: number;
      /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
      source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    } | null;
  };
  output_schema: {
    value: { [key: string]: Json } | null;
    /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
    source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    inherited: {
      value: { [key: string]: Json } | null;
      /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
      source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    } | null;
  };
  output_retries: {
    value: number;
    /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
    source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    inherited: {
      value: number;
      /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
      source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    } | null;
  };
  parameters: {
    /** Those that are sent to the provider. */
    value: { [key: string]: Json };
    /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
    source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    inherited: {
      /** Those that are sent to the provider. */
      value: { [key: string]: Json };
      /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
      source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    } | null;
  };
  idle_timeout_s: {
    value: number | null;
    /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
    source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    inherited: {
      value: number | null;
      /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
      source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    } | null;
  };
  /** The lowest of the values of the installation, the role and the config. */
  limits: {
    depth: {
      value: number;
      /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
      source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    };
    children: {
      value: number;
      /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
      source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    };
    workers: {
      value: number;
      /** worker: its config. role: its role. environment, config_file: set by the operator for all workers. provider: follows from the provider of the model. default: built in. */
      source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
    };
  };
  /** In the order in which they are tried: rules of the role follow those of the config. */
  approval: EffectiveRule[];
  /** All tools that the settings name, sorted by name, also those that the model does not get. */
  offered_tools: EffectiveTool[];
  /** MCP servers whose tools the API process does not know: they run elsewhere, or belong to a context or a tenant. */
  unknown_servers: string[];
  not_allowed: string | null;
};

/** Part of `EffectiveSettings`. */
export type EffectiveTool = {
  name: string;
  /** The field of the config that names the tool, or its server. */
  field: 'tools' | 'mcp_servers' | 'client_tools';
  /** Where this field comes from. */
  source: 'worker' | 'role' | 'environment' | 'config_file' | 'provider' | 'default';
  /** offered: the model gets the tool. plan_mode: not in the mode plan. not_allowed: the operator does not allow it for the tenant. unknown: the API process does not have it. */
  state: 'offered' | 'plan_mode' | 'not_allowed' | 'unknown';
  effect: 'none' | 'idempotent' | 'once' | null;
  /** never: calls run. always: a person approves each call. deny: calls do not run. by_call: the tool decides for each call. */
  approval: 'never' | 'always' | 'deny' | 'by_call';
  rule: EffectiveRule | null;
};

/** Shows the entries of each span: those of `branch` with `after < number <= upto`. Without spans, all entries of its own name. */
export type ExportedBranch = {
  name: string;
  parent: string | null;
  fork: number | null;
  spans: ({
    branch: string;
    after: number;
    upto: number | null;
  })[] | null;
  message_count: number;
  request_count: number;
  usage: {
    input_tokens: number;
    output_tokens: number;
    cache_read_tokens: number;
    cache_write_tokens: number;
    /** US dollars, at the prices at the time of each call. Missing: no known price. */
    cost?: string;
  };
  /** ISO 8601. */
  created_at: string;
};

/** Part of `ExportedEntry`. */
export type ExportedCompaction = {
  type: 'compaction';
  number: number;
  branch: string;
  compactor: 'threshold' | 'llm';
  /** Number of the last replaced entry. */
  upto: number;
  summary: string | null;
  model: string | null;
  tokens_before: number;
  tokens_after: number;
  /** ISO 8601. */
  created_at: string;
};

/** Part of `ContextExport`. */
export type ExportedContext = {
  title: string | null;
  worker: {
    name: string;
    role: string | null;
  };
  config: WorkerConfig;
  active_branch: string;
  turn_count: number;
  message_count: number;
  request_count: number;
  usage: {
    input_tokens: number;
    output_tokens: number;
    cache_read_tokens: number;
    cache_write_tokens: number;
    /** US dollars, at the prices at the time of each call. Missing: no known price. */
    cost?: string;
  };
  /** ISO 8601. */
  created_at: string;
};

/** Part of `ContextExport`. */
export type ExportedEntry = ExportedMessage | ExportedCompaction;

/** Part of `ExportedEntry`. */
export type ExportedMessage = {
  type: 'message';
  number: number;
  branch: string;
  role: 'user' | 'assistant' | 'system' | 'tool';
  message_type: 'text' | 'plan' | 'question' | 'tool_call' | 'tool_result' | 'correction' | 'partial';
  turn: string;
  status: 'completed' | 'retracted';
  retraction?: {
    cause: 'cancel' | 'stop' | 'interrupt' | 'deadline' | 'refused' | 'failed';
    /** ISO 8601. */
    at: string;
  };
  content: StoredBlock[];
  /** ISO 8601. */
  created_at: string;
  completed_at: string | null;
  model: {
    model_id: string;
    provider_id: string;
    finish_reason: string;
    usage: {
      input_tokens: number;
      output_tokens: number;
      cache_read_tokens: number;
      cache_write_tokens: number;
      /** US dollars, at the prices at the time of each call. Missing: no known price. */
      cost?: string;
    };
    attempt: number | null;
    called_at: string | null;
    first_byte_at: string | null;
  } | null;
};

/** The first input of a new worker: a message post without `delivery` and `branch`. */
export type FirstMessage = {
  content: string | InputBlock[];
  /** 1 is the highest priority. Default: 5. */
  priority?: number;
  metadata?: { [key: string]: Json };
  max_steps?: number;
  output_schema?: OutputSchema;
  /** ISO 8601. */
  deadline?: string;
  /** Delays the job by so many seconds, at most 366 days. Until then its status is delayed, and it holds up no other input. Only with delivery queue, and not together with at. */
  after_s?: number;
  /** Delays the job until this time, at most 366 days from now. A time that has passed means at once. Only with delivery queue, and not together with after_s. */
  at?: string;
  webhook?: NamedWebhook;
};

/** Part of `ImportContext`. */
export type FolderImport = {
  /** The parsed files by name: metadata.json, message_index.json, messages/<id>.json. */
  files: { [key: string]: Json };
};

/** The body of `POST /api/contexts/{id}/fork`. */
export type ForkContext = {
  /** The last copied message, on any branch; results of its tool calls are copied too. Without it all complete messages of the active branch are copied, but none of an unfinished job. */
  from_message_id?: string;
  title?: string | null;
};

/** Calls of the tool that run without approval in this context. */
export type Grant = {
  tool: string;
  actor: Actor;
  /** ISO 8601. */
  created_at: string;
  /** ISO 8601. */
  expires_at: string;
};

/** The answer of `GET /api/contexts/{id}/grants`. */
export type GrantList = {
  data: Grant[];
};

/** The answer of `GET /healthz`. */
export type Health = {
  status: 'ok';
};

/** Has no id. */
export type HeartbeatEvent = {
  /** ISO 8601. */
  timestamp: string;
  /** When it was stored; of an event without an id, when it was sent. */
  at: string;
};

/** Part of `ContentBlock` and `ResultPart`. */
export type ImageBlock = {
  type: 'image';
  source: Source;
};

/** Part of `ImageSource`. */
export type ImageData = {
  type: 'base64';
  media_type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  data: string;
};

/** Part of `InputBlock` and `ResultInput`. */
export type ImageInput = {
  type: 'image';
  source: ImageSource;
};

/** Part of `ImageInput`. */
export type ImageSource = ImageData | UrlSource;

/** The body of `POST /api/contexts/import`. */
export type ImportContext = ContextExport | PairedImport | FolderImport;

/** The answer of `GET /api/approvals`. */
export type Inbox = {
  data: InboxItem[];
  next_cursor: string | null;
};

/** Part of `Inbox`. */
export type InboxItem = {
  /** approval: a person decides whether a call runs. input: a person answers a question, or a client posts the result of its tool. unknown_outcome: a person resolves what a call did. */
  kind: 'approval' | 'input' | 'unknown_outcome';
  context_id: string;
  worker_id: string;
  worker_name: string;
  job_id: string;
  input_message_id: string | null;
  input_text: string | null;
  tool_call_id: string;
  name: string;
  input: Json;
  /** ISO 8601. */
  requested_at: string;
  expires_at: string | null;
};

/** Part of `Chat`, `CreateSchedule` and 5 more. */
export type InputBlock = TextInput | ImageInput | DocumentInput;

/** A call waits for its result: a person answers the question, or the client runs the tool with `input`. */
export type InputRequestedEvent = {
  context_id: string;
  tool_call_id: string;
  name: string;
  job_id: string;
  question: string | null;
  choices: string[] | null;
  input: Json;
  /** When it was stored; of an event without an id, when it was sent. */
  at: string;
};

/** The body of `POST /api/contexts/{id}/interrupt`. */
export type Interrupt = {
  /** What to do with messages of the job. discard (the default): retract answers and tool results, keep inputs. rollback: retract inputs too. keep: keep finished messages. */
  mode?: 'discard' | 'rollback' | 'keep';
  /** The response waits until the job has finished, at most this many milliseconds. */
  wait_ms?: number;
};

/** Progress of the interrupt. For an idle context all fields are null or empty. */
export type Interruption = {
  job_id: string | null;
  status: 'delayed' | 'queued' | 'running' | 'waiting' | 'completed' | 'incomplete' | 'failed' | 'cancelled' | 'interrupted' | null;
  removed_messages: string[];
  effects: BegunCall[];
  requested_at: string | null;
  stopped_at: string | null;
};

/** The answer of `GET /api/jobs/{id}`. */
export type Job = {
  id: string;
  kind: 'input' | 'retry' | 'compact';
  context_id: string;
  context_title: string | null;
  worker_id: string;
  worker_name: string;
  role: string | null;
  /** The model that its worker is configured with. */
  model: string;
  user: string | null;
  branch: string;
  input: {
    message_id: string;
    /** Its first 200 UTF-16 units. */
    text: string;
  } | null;
  status: 'delayed' | 'queued' | 'running' | 'waiting' | 'completed' | 'incomplete' | 'failed' | 'cancelled' | 'interrupted';
  /** In lists with include=why, of a queued job: why it does not run yet. */
  why?: string;
  attempt: number;
  retry_at: string | null;
  starts_at: string | null;
  steps: number;
  usage: Usage;
  waiting_for: WaitingFor[];
  output: JobOutput | null;
  error: JobFailure | null;
  parent_job_id: string | null;
  /** ISO 8601. */
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  metadata: { [key: string]: Json };
  compaction: JobCompaction | null;
};

/** The requested settings, and the prompt tokens before and after. Both null: nothing was compacted. */
export type JobCompaction = {
  type: 'threshold' | 'llm' | null;
  keep_turns: number | null;
  model: string | null;
  tokens_before: number | null;
  tokens_after: number | null;
};

/** Part of `Job`, `JobFinishedEvent` and 1 more. */
export type JobFailure = {
  /** A job that a service submitted in its own transaction may fail with the code with which the API would refuse it. */
  code: 'empty_context' | 'nothing_to_answer' | 'provider_auth' | 'provider_refused' | 'provider_overloaded' | 'provider_rate_limited' | 'provider_bad_request' | 'prompt_too_long' | 'provider_unreachable' | 'stream_interrupted' | 'not_allowed' | 'crash_loop' | 'output_invalid' | 'max_steps' | 'deadline' | 'internal' | 'not_found' | 'invalid_request' | 'unknown_role' | 'unknown_model' | 'forbidden' | 'worker_stopped' | 'quota_exceeded';
  message: string;
};

/** The last event of the job. */
export type JobFinishedEvent = {
  context_id: string;
  job_id: string;
  status: 'delayed' | 'queued' | 'running' | 'waiting' | 'completed' | 'incomplete' | 'failed' | 'cancelled' | 'interrupted';
  attempt: number;
  output: {
    message_id: string;
    /** Its first 4,000 UTF-16 units. A surrogate pair is never cut. */
    text: string;
    /** The output is longer. */
    truncated: boolean;
  } | null;
  error: JobFailure | null;
  /** When it was stored; of an event without an id, when it was sent. */
  at: string;
};

/** The answer of `GET /api/jobs`. */
export type JobList = {
  data: Job[];
  next_cursor: string | null;
};

/** Part of `Job`. */
export type JobOutput = {
  message_id: string;
  text: string;
  /** The text as JSON, if the job has an output_schema and the answer matches it. Null: there is no schema, or the answer does not match. */
  data: Json;
};

/** The data of the event `JobStarted`. */
export type JobStartedEvent = {
  context_id: string;
  job_id: string;
  status: 'delayed' | 'queued' | 'running' | 'waiting' | 'completed' | 'incomplete' | 'failed' | 'cancelled' | 'interrupted';
  attempt: number;
  /** When it was stored; of an event without an id, when it was sent. */
  at: string;
};

/** Part of `JobStepList`. */
export type JobStep = {
  kind: 'model' | 'tool' | 'wait' | 'compact';
  /** model: provider/model. tool: name of the tool. wait: retry or throttle. compact: type of the compaction. */
  name: string;
  /** running and waiting: in progress. pending and started: no process runs it now. cancelled: it was stopped with its job. */
  status: 'running' | 'pending' | 'started' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'denied' | 'expired' | 'unknown';
  attempt: number | null;
  n: number | null;
  prefix_lost_at: PrefixPart | null;
  /** ISO 8601. */
  started_at: string;
  first_token_at: string | null;
  ended_at: string | null;
  usage: Usage | null;
  error: JobFailure | null;
  reason: 'rate_limited' | 'overloaded' | null;
  message_id: string | null;
  tool_call_id: string | null;
  progress: ToolProgress | null;
  log: ToolLog | null;
  tool_steps: ToolStep[] | null;
  executions: ToolExecution[] | null;
  tokens_before: number | null;
  tokens_after: number | null;
  approval: {
    decision: 'approve' | 'deny';
    reason: string | null;
    input: Json;
    /** ISO 8601. */
    decided_at: string;
    actor: Actor | null;
  } | null;
  waits: CallWait[] | null;
  child: ChildJob | null;
};

/** The answer of `GET /api/jobs/{id}/steps`. */
export type JobStepList = {
  data: JobStep[];
  next_cursor: string | null;
};

/** The last message on the active branch, without tool calls and tool results. */
export type LastMessage = {
  id: string;
  role: 'user' | 'assistant';
  /** Start of the text. Empty if the message has no text or is larger than 64 KB. */
  text: string;
  /** ISO 8601. */
  created_at: string;
};

/** The answer of `GET /metrics/load`. */
export type Load = {
  /** Contexts of all tenants that run or wait for a slot. */
  slots_needed: number;
  /** Of these, those that run. */
  running: number;
  /** Of these, those that wait for a slot. */
  runnable: number;
  /** Live worker processes. */
  worker_processes: number;
};

/** What a tool wrote to the log of its call. */
export type LogEntry = {
  /** Its place in the log of the job, for `after`. */
  id: string;
  job_id: string;
  /** A call without effect may run before its answer is stored. If that answer never was, no call has this id. */
  tool_call_id: string;
  /** The attempt of the job. */
  attempt: number;
  level: 'debug' | 'info' | 'warn' | 'error';
  message: string;
  fields: { [key: string]: Json } | null;
  /** ISO 8601. */
  at: string;
};

/** The answer of `GET /api/jobs/{id}/logs`. */
export type LogEntryList = {
  data: LogEntry[];
  next_cursor: string | null;
};

/** Part of `McpServerInfo`. */
export type McpServerFailure = {
  /** ISO 8601. */
  at: string;
  /** command_not_found: the command, or its working directory, does not exist. command_not_executable: the process may not execute it. exited: its process ended. refused: no process listens at the address. host_not_found: its name does not exist. host_unreachable: there is no route. tls_error: no secure connection, or its certificate is not trusted. unauthorized: HTTP 401 or 403. http_error: another HTTP status, or a redirect to another origin. timed_out: it did not answer. protocol_error: it answered with an error, or not in the protocol. lost: the connection broke. other: see the log. */
  reason: 'command_not_found' | 'command_not_executable' | 'exited' | 'refused' | 'host_not_found' | 'host_unreachable' | 'tls_error' | 'unauthorized' | 'http_error' | 'timed_out' | 'protocol_error' | 'lost' | 'other';
  code: number | null;
  process_id: string;
  /** Of the worker process whose connection failed. */
  host: string;
};

/** Part of `System`. */
export type McpServerInfo = {
  name: string;
  /** up: running in at least one worker process. */
  state: 'up' | 'down' | 'unknown';
  scope: 'shared' | 'tenant' | 'context' | null;
  tools: ToolInfo[] | null;
  last_failure: McpServerFailure | null;
  restarts: number | null;
  calls: { [key: string]: number } | null;
  latency_ms: Quantiles | null;
};

/** The answer of `GET /api/contexts/{id}/messages/{message_id}` and `PATCH /api/contexts/{id}/messages/{message_id}`. */
export type Message = {
  id: string;
  context_id: string;
  branch: string;
  seq: number | null;
  turn: string | null;
  role: 'user' | 'assistant' | 'system' | 'tool';
  /** partial: the text of an answer that the model did not finish, always retracted. correction: faults of the answer before it. */
  type: 'text' | 'plan' | 'question' | 'tool_call' | 'tool_result' | 'correction' | 'partial';
  status: 'delayed' | 'queued' | 'completed' | 'retracted';
  retraction: Retraction | null;
  /** An input that joined a running job, or waits to join it. */
  steered: boolean;
  /** Prompts show a summary instead of this message. */
  compacted: boolean;
  content: ContentBlock[];
  job_id: string | null;
  sender_worker_id: string | null;
  /** ISO 8601. */
  created_at: string;
  completed_at: string | null;
  model_id: string | null;
  provider_id: string | null;
  usage: Usage | null;
  finish_reason: string | null;
  error: null;
  /** The calls of this message. Only with include=tool_calls. */
  tool_calls?: MessageToolCall[];
};

/** A message became part of the history; also for inputs and tool results. */
export type MessageCompletedEvent = {
  context_id: string;
  message_id: string;
  seq: number;
  turn: string;
  role: 'user' | 'assistant' | 'system' | 'tool';
  type: 'text' | 'plan' | 'question' | 'tool_call' | 'tool_result' | 'correction' | 'partial';
  /** When it was stored; of an event without an id, when it was sent. */
  at: string;
};

/** The job ended before the model had finished this answer. Its text is stored, but is not part of the history. */
export type MessageIncompleteEvent = {
  context_id: string;
  message_id: string;
  seq: number;
  turn: string;
  role: 'user' | 'assistant' | 'system' | 'tool';
  type: 'text' | 'plan' | 'question' | 'tool_call' | 'tool_result' | 'correction' | 'partial';
  /** When it was stored; of an event without an id, when it was sent. */
  at: string;
};

/** The answer of `GET /api/contexts/{id}/messages`. */
export type MessageList = {
  data: Message[];
  next_cursor: string | null;
};

/** A tool call without its input, which is in the `tool_use` block with its id. An input that was replaced with the approval is in `approval`. */
export type MessageToolCall = {
  id: string;
  context_id: string;
  job_id: string;
  /** The assistant message with the call. */
  message_id: string;
  name: string;
  effect: 'none' | 'idempotent' | 'once';
  on_unknown: 'tell' | 'ask';
  status: 'pending' | 'started' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'denied' | 'expired' | 'unknown';
  waits_for: 'approval' | 'answer' | 'outcome' | 'workers' | 'timer' | null;
  waits_since: string | null;
  waits_until: string | null;
  approval: ToolCallApproval | null;
  executions: ToolExecution[];
  progress: ToolProgress | null;
  log: ToolLog;
  /** Oldest first; the last 100. */
  tool_steps: ToolStep[];
  result_message_id: string | null;
  /** ISO 8601. */
  created_at: string;
  finished_at: string | null;
};

/** An interrupt removed these messages from the history. */
export type MessagesRetractedEvent = {
  context_id: string;
  message_ids: string[];
  turn: string;
  mode: 'discard' | 'rollback' | 'keep';
  /** When it was stored; of an event without an id, when it was sent. */
  at: string;
};

/** Part of `System`. */
export type ModelPrice = {
  /** `provider/model` */
  model: string;
  /** US dollars per million tokens, decimal. */
  input: string;
  /** US dollars per million tokens, decimal. */
  output: string;
  /** US dollars per million tokens, decimal. */
  cache_read: string;
  /** US dollars per million tokens, decimal. */
  cache_write: string;
};

/** A webhook that receives job.waiting and job.finished of this job as well, whatever its events and its filter. Not for tokens. */
export type NamedWebhook = {
  id: string;
};

/** A person resolved the unknown outcome. */
export type OutcomeResolvedEvent = {
  context_id: string;
  tool_call_id: string;
  name: string;
  job_id: string;
  outcome: 'happened' | 'did_not_happen' | 'tell';
  /** When it was stored; of an event without an id, when it was sent. */
  at: string;
};

/** A call started, and its end is unknown after a crash. It waits for a person to resolve it. */
export type OutcomeUnknownEvent = {
  context_id: string;
  tool_call_id: string;
  name: string;
  job_id: string;
  input: Json;
  until: string | null;
  /** When it was stored; of an event without an id, when it was sent. */
  at: string;
};

/** A JSON Schema (draft 2020-12 or 7) that the final answer of a job must match, of at most 32 KB. false: any text, also where the role or the config has a schema. */
export type OutputSchema = { [key: string]: Json } | false;

/** Text of the user, of the assistant, or both. */
export type Pair = {
  user?: string;
  assistant?: string;
};

/** The answer of `GET /api/contexts/{id}/export`. */
export type PairedExport = {
  title?: string | null;
  entries: Pair[];
};

/** Part of `ImportContext`. */
export type PairedImport = {
  title?: string | null;
  worker?: {
    name?: string;
    role?: string | null;
  };
  config?: WorkerConfig;
  entries: Pair[];
};

/** The body of `PATCH /api/contexts/{id}`. */
export type PatchContext = {
  title?: string | null;
  config?: ConfigPatch;
};

/** The body of `PATCH /api/contexts/{id}/messages/{message_id}`. */
export type PatchMessage = {
  content?: string | InputBlock[];
  /** Position in the queue; 1 is next. A value beyond the end means the end. */
  position?: number;
};

/** The body of `PATCH /api/schedules/{id}`. */
export type PatchSchedule = {
  name?: string;
  target?: ScheduleTarget;
  content?: string | InputBlock[];
  /** Five fields: minute, hour, day of month, month, day of week. Exactly one of cron, every_s and at is set. */
  cron?: string;
  /** Seconds between two runs. The first is one interval after this is set. */
  every_s?: number;
  /** One run, at this time in the future. */
  at?: string;
  /** IANA time zone of cron. Default: UTC. */
  timezone?: string;
  /** What to do while the job of the last run is unfinished. queue: post the input. skip: post nothing. interrupt: cancel that job, and post the input. Default: queue. */
  overlap?: 'queue' | 'skip' | 'interrupt';
  /** Which occurrences run late that were missed by more than a minute, or during a pause. none: none of them. one: one run for all. all: each, but at most the newest 100. Default: one. */
  catch_up?: 'none' | 'one' | 'all';
  /** Each occurrence starts up to so many seconds late, but before the next one. Default: 0. */
  jitter_s?: number;
  /** Default: false. */
  paused?: boolean;
};

/** Members that are missing do not change. Null is the default. */
export type PatchTenant = {
  status?: 'active' | 'suspended';
  /** Null: as the config file says (`limits.tenant`), or no limit. */
  limits?: {
    weight?: number | null;
    requests_per_s?: number | null;
    concurrent_requests?: number | null;
    slots?: number | null;
    queued_jobs?: number | null;
    workers?: number | null;
    streams?: number | null;
    stored_mb?: number | null;
    upload_mb?: number | null;
    sql_ms?: number | null;
  };
  /** What its workers may use. `*` in a name stands for any characters; null allows everything. */
  allow?: {
    /** Names of tools, also those of MCP servers (`server__tool`). */
    tools?: string[] | null;
    /** Names of roles, of the API or the config file. */
    roles?: string[] | null;
    /** Names of MCP servers of the config file. */
    mcp_servers?: string[] | null;
    /** Names of models, `provider/model`. */
    models?: string[] | null;
  };
};

/** The body of `PATCH /api/webhooks/{id}`. */
export type PatchWebhook = {
  /** Of the receiver. https, unless the operator allows http. Redirects are not followed. */
  url?: string;
  /** The events that it receives. */
  events?: ('job.started' | 'job.waiting' | 'job.finished' | 'approval.requested' | 'approval.resolved' | 'worker.failed')[];
  /** Replaces the filter; null removes it. */
  filter?: WebhookFilter | null;
  /** disabled: nothing is sent, and events meanwhile are not kept for it. */
  status?: 'active' | 'disabled';
};

/** The body of `PATCH /api/workers/{id}`. */
export type PatchWorker = {
  name?: string;
  role?: string | null;
  config?: ConfigPatch;
};

/** Follows the system prompt in every prompt. */
export type PinnedText = {
  title: string;
  text: string;
};

/** The body of `POST /api/contexts/{id}/jobs`. */
export type PostJob = {
  /** Default: the active branch. */
  branch?: string;
  /** An end user of the tenant, by the name that its own service uses. With a token only the user of the token is allowed. */
  user?: string;
  /** 1 is the highest priority. Default: 5. */
  priority?: number;
  metadata?: { [key: string]: Json };
  max_steps?: number;
  output_schema?: OutputSchema;
  /** ISO 8601. */
  deadline?: string;
  webhook?: NamedWebhook;
  /** A job of this context, such as one that failed. Options that are missing here are those of that job: priority, metadata, max_steps, output_schema, a deadline that has not passed, and an active webhook. Not for tokens. */
  options_of?: string;
};

/** The body of `POST /api/contexts/{id}/messages` and `POST /api/workers/{id}/messages`. */
export type PostMessage = {
  content: string | InputBlock[];
  /** What to do while a job is unfinished. queue: wait behind it; if a question waits for an answer and the priority is the default, the input answers the oldest question. steer: join the running job at its next step, if it is of the same user; the job keeps its metadata, priority, max_steps and deadline, and an output_schema is refused. interrupt: replace the job. reject: refuse the input. */
  delivery?: 'queue' | 'steer' | 'interrupt' | 'reject';
  /** Default: the active branch. */
  branch?: string;
  /** An end user of the tenant, by the name that its own service uses. With a token only the user of the token is allowed. */
  user?: string;
  /** 1 is the highest priority. Default: 5. */
  priority?: number;
  metadata?: { [key: string]: Json };
  max_steps?: number;
  output_schema?: OutputSchema;
  /** ISO 8601. */
  deadline?: string;
  /** Delays the job by so many seconds, at most 366 days. Until then its status is delayed, and it holds up no other input. Only with delivery queue, and not together with at. */
  after_s?: number;
  /** Delays the job until this time, at most 366 days from now. A time that has passed means at once. Only with delivery queue, and not together with after_s. */
  at?: string;
  webhook?: NamedWebhook;
  /** A job of this context, such as one that failed. Options that are missing here are those of that job: priority, metadata, max_steps, output_schema, a deadline that has not passed, and an active webhook. Not for tokens. */
  options_of?: string;
};

/** The body of `POST /api/contexts/{id}/tools/{tool_call_id}/result`. */
export type PostResult = {
  content: string | ResultInput[];
  /** The model sees the result as a failed call. */
  is_error?: boolean;
};

/** The first part of the prompt that differs from the call before: the prompt cache of the provider misses from there on. Null: no difference, or the call before is unknown. */
export type PrefixPart = 'model' | 'tools' | 'system' | 'messages';

/** The answer to a request that failed. */
export type Problem = {
  type: string;
  title: string;
  status: number;
  detail: string;
  error: {
    type: string;
    code: 'not_found' | 'invalid_request' | 'unsupported' | 'unknown_model' | 'unknown_tool' | 'unknown_role' | 'unauthorized' | 'forbidden' | 'tenant_suspended' | 'tenant_exists' | 'payload_too_large' | 'version_conflict' | 'idempotency_conflict' | 'context_busy' | 'worker_stopped' | 'not_queued' | 'not_waiting' | 'process_ended' | 'process_draining' | 'process_not_drainable' | 'branch_exists' | 'worker_limit' | 'queue_full' | 'quota_exceeded' | 'rate_limited' | 'unavailable' | 'internal';
    message: string;
    param: string | null;
    /** Of an invalid request: all that is wrong, at most 20 entries; of a body with more than 2000 values only the first fault. `path` is written like `param`; empty: the whole body. */
    errors?: ({
      path: string;
      code: 'not_found' | 'invalid_request' | 'unsupported' | 'unknown_model' | 'unknown_tool' | 'unknown_role' | 'unauthorized' | 'forbidden' | 'tenant_suspended' | 'tenant_exists' | 'payload_too_large' | 'version_conflict' | 'idempotency_conflict' | 'context_busy' | 'worker_stopped' | 'not_queued' | 'not_waiting' | 'process_ended' | 'process_draining' | 'process_not_drainable' | 'branch_exists' | 'worker_limit' | 'queue_full' | 'quota_exceeded' | 'rate_limited' | 'unavailable' | 'internal';
      message: string;
    })[];
  };
};

/** Part of `System`. */
export type ProviderStatus = {
  name: 'anthropic' | 'openai' | 'openai-chat' | 'simulated';
  /** The settings that calls need, such as a key, are set. */
  configured: boolean;
  answered_at: string | null;
  failed_at: string | null;
  throttled_until: string | null;
  throttle_reason: string | null;
  throttles: Throttle[] | null;
};

/** The body of `PUT /api/contexts/{id}`. */
export type PutContext = {
  title?: string | null;
  config?: WorkerConfig;
};

/** Milliseconds. */
export type Quantiles = {
  p50: number;
  p95: number;
};

/** The answer of `GET /api/roles/{name}`. */
export type ReadRole = {
  name: string;
  version: number | null;
  /** `file`: from the config file, read-only. If only other processes have the role, its settings are missing. */
  source: 'api' | 'file';
  /** provider/model */
  model?: string;
  streaming?: boolean;
  system_prompt?: string;
  /** plan: the model gets only tools without effect, and answers have the type plan. */
  mode?: 'act' | 'plan';
  tools?: string[];
  client_tools?: ClientTool[];
  /** Names of MCP servers in the config file. The worker gets all their tools. */
  mcp_servers?: string[];
  /** Approval rules. The first matching rule of the config applies, then that of the role. A matching `deny` always applies. The stricter of the rule and the setting of the tool counts. */
  approval?: ApprovalRule[];
  max_tokens?: number;
  /** Maximum number of tokens of a prompt. Default: 200000 for anthropic, 128000 for openai and openai-chat, 1000000 for simulated. */
  context_limit?: number;
  compaction?: Compaction;
  pinned?: PinnedText[];
  max_steps?: number;
  output_schema?: OutputSchema;
  /** How often the model is asked again after an answer that does not match output_schema. Default: 2. */
  output_retries?: number;
  /** Passed unchanged to the provider. Allowed parameters: see docs/providers.md. Reserved names: model, messages, input, stream, tools, n, store, background. */
  parameters?: { [key: string]: Json };
  /** Seconds without activity after which the context is archived. Not set: never. */
  idle_timeout_s?: number;
  limits?: WorkerLimits;
  created_at: string | null;
  updated_at: string | null;
  effective?: EffectiveSettings | null;
};

/** The answer of `GET /api/workers/{id}`. */
export type ReadWorker = {
  id: string;
  name: string;
  user: string | null;
  role: string | null;
  role_version: number | null;
  config: WorkerConfig;
  state: 'inactive' | 'working' | 'waiting' | 'failed' | 'stopped';
  last_failure: WorkerFailure | null;
  context_id: string;
  parent_worker_id: string | null;
  depth: number;
  /** ISO 8601. */
  created_at: string;
  /** ISO 8601. */
  updated_at: string;
  effective?: EffectiveSettings | null;
};

/** The answer of `GET /readyz`. */
export type Readiness = {
  /** `degraded`: Redis does not answer. Worker processes find jobs by polling PostgreSQL, about once a second. */
  status: 'ok' | 'degraded';
  postgres: 'ok';
  queue: 'ok' | 'away';
};

/** Progress of the stop request. */
export type Receipt = {
  job_id: string;
  status: 'delayed' | 'queued' | 'running' | 'waiting' | 'completed' | 'incomplete' | 'failed' | 'cancelled' | 'interrupted';
  requested_at: string | null;
  delivered_at: string | null;
  stopped_at: string | null;
};

/** The body of `POST /api/contexts/{id}/messages/{message_id}/regenerate`. */
export type Regenerate = {
  /** Letters, digits, dots, dashes and underscores; starts with a letter or a digit. */
  name?: string;
  /** What to do with an unfinished job, as in PostMessage. */
  delivery?: 'queue' | 'interrupt' | 'reject';
  /** An end user of the tenant, by the name that its own service uses. With a token only the user of the token is allowed. */
  user?: string;
  /** 1 is the highest priority. Default: 5. */
  priority?: number;
  metadata?: { [key: string]: Json };
  max_steps?: number;
  output_schema?: OutputSchema;
  /** ISO 8601. */
  deadline?: string;
};

/** The process follows with its next heartbeat, within about a second. */
export type RequestedProcess = {
  id: string;
  requested_status: 'running' | 'paused' | 'draining';
};

/** The body of `POST /api/contexts/{id}/tools/{tool_call_id}/resolve`. */
export type ResolveToolCall = {
  /** happened: `result` becomes the result of the call. did_not_happen: the call runs again. tell: the model gets the message that the outcome is unknown. */
  outcome: 'happened' | 'did_not_happen' | 'tell';
  /** Only with the outcome happened. Without it, the model only gets the message that the call happened. */
  result?: string | ResultInput[];
};

/** The answer of `POST /api/contexts/{id}/tools/approve`. */
export type Resolved = {
  resolved: string[];
};

/** Part of `PostResult` and `ResolveToolCall`. */
export type ResultInput = TextInput | ImageInput;

/** Part of `ToolResultBlock`. */
export type ResultPart = TextBlock | ImageBlock;

/** Why a message is not part of the history. Null: it is, or the reason is not known. */
export type Retraction = {
  /** cancel, stop, interrupt: a request to stop the job or its worker. deadline: the job passed its deadline. refused: the provider refused to answer. failed: the model call failed. */
  cause: 'cancel' | 'stop' | 'interrupt' | 'deadline' | 'refused' | 'failed';
  /** When the stop was requested, else when the job ended. */
  at: string;
  by: Actor | null;
};

/** Part of `RetriedJobs`. */
export type RetriedJob = {
  /** Of the job that is to be retried. */
  id: string;
  context_id: string | null;
  retry_job_id: string | null;
  error: {
    code: 'not_found' | 'not_ended' | 'completed' | 'compaction' | 'input_missing' | 'context_busy' | 'superseded' | 'worker_stopped' | 'queue_full' | 'quota_exceeded';
    message: string;
  } | null;
};

/** What happened to each job. next_cursor: of the next jobs that match the filter; null: there are none. */
export type RetriedJobs = {
  data: RetriedJob[];
  next_cursor: string | null;
  /** How many of these jobs are retried, or would be. */
  retried: number;
  /** How many of them are not. */
  refused: number;
};

/** As for the list of jobs. A job must match all given filters. */
export type RetryFilter = {
  /** Status of the job, or several. Default: failed and incomplete. */
  status?: 'failed' | 'incomplete' | 'cancelled' | 'interrupted' | ('failed' | 'incomplete' | 'cancelled' | 'interrupted')[];
  kind?: 'input' | 'retry' | 'compact';
  /** An end user of the tenant, by the name that its own service uses. With a token only the user of the token is allowed. */
  user?: string;
  /** Role of the worker. */
  role?: string;
  /** Text to find, as in the list of jobs: a page searches 2,000 jobs that match the other filters, so an answer may have fewer jobs than `limit`, or none, and still have a next_cursor. */
  q?: string;
  /** Must be contained in the metadata of the job. */
  metadata?: { [key: string]: Json };
  context_id?: string;
  worker_id?: string;
  parent_job_id?: string;
  /** ISO 8601. */
  created_after?: string;
  /** ISO 8601. */
  created_before?: string;
};

/** Either ids, or a filter, whose jobs are taken newest first. */
export type RetryJobs = {
  ids?: string[];
  filter?: RetryFilter;
  /** With filter: how many jobs that match are taken. Default: 200. */
  limit?: number;
  /** With filter: `next_cursor` of the answer before. */
  cursor?: string;
  /** Changes nothing, and returns what would happen now. Limits of queued jobs and quotas are not checked. */
  dry_run?: boolean;
};

/** The answer of `PUT /api/roles/{name}`. */
export type Role = {
  name: string;
  version: number | null;
  /** `file`: from the config file, read-only. If only other processes have the role, its settings are missing. */
  source: 'api' | 'file';
  /** provider/model */
  model?: string;
  streaming?: boolean;
  system_prompt?: string;
  /** plan: the model gets only tools without effect, and answers have the type plan. */
  mode?: 'act' | 'plan';
  tools?: string[];
  client_tools?: ClientTool[];
  /** Names of MCP servers in the config file. The worker gets all their tools. */
  mcp_servers?: string[];
  /** Approval rules. The first matching rule of the config applies, then that of the role. A matching `deny` always applies. The stricter of the rule and the setting of the tool counts. */
  approval?: ApprovalRule[];
  max_tokens?: number;
  /** Maximum number of tokens of a prompt. Default: 200000 for anthropic, 128000 for openai and openai-chat, 1000000 for simulated. */
  context_limit?: number;
  compaction?: Compaction;
  pinned?: PinnedText[];
  max_steps?: number;
  output_schema?: OutputSchema;
  /** How often the model is asked again after an answer that does not match output_schema. Default: 2. */
  output_retries?: number;
  /** Passed unchanged to the provider. Allowed parameters: see docs/providers.md. Reserved names: model, messages, input, stream, tools, n, store, background. */
  parameters?: { [key: string]: Json };
  /** Seconds without activity after which the context is archived. Not set: never. */
  idle_timeout_s?: number;
  limits?: WorkerLimits;
  created_at: string | null;
  updated_at: string | null;
};

/** Settings of workers with this role; the config of a worker overrides them. Missing fields use the defaults. At most 64 KB of JSON. */
export type RoleDefinition = {
  /** provider/model */
  model?: string;
  streaming?: boolean;
  system_prompt?: string;
  /** plan: the model gets only tools without effect, and answers have the type plan. */
  mode?: 'act' | 'plan';
  tools?: string[];
  client_tools?: ClientTool[];
  /** Names of MCP servers in the config file. The worker gets all their tools. */
  mcp_servers?: string[];
  /** Approval rules. The first matching rule of the config applies, then that of the role. A matching `deny` always applies. The stricter of the rule and the setting of the tool counts. */
  approval?: ApprovalRule[];
  max_tokens?: number;
  /** Maximum number of tokens of a prompt. Default: 200000 for anthropic, 128000 for openai and openai-chat, 1000000 for simulated. */
  context_limit?: number;
  compaction?: Compaction;
  pinned?: PinnedText[];
  max_steps?: number;
  output_schema?: OutputSchema;
  /** How often the model is asked again after an answer that does not match output_schema. Default: 2. */
  output_retries?: number;
  /** Passed unchanged to the provider. Allowed parameters: see docs/providers.md. Reserved names: model, messages, input, stream, tools, n, store, background. */
  parameters?: { [key: string]: Json };
  /** Seconds without activity after which the context is archived. Not set: never. */
  idle_timeout_s?: number;
  limits?: WorkerLimits;
};

/** The answer of `GET /api/roles`. */
export type RoleList = {
  data: Role[];
  next_cursor: string | null;
};

/** Part of `RoleVersionList`. */
export type RoleVersion = {
  version: number;
  definition: RoleDefinition | null;
  /** ISO 8601. */
  created_at: string;
};

/** The answer of `GET /api/roles/{name}/versions`. */
export type RoleVersionList = {
  data: RoleVersion[];
  next_cursor: string | null;
};

/** The body of `POST /api/keys/{id}/rotate`. */
export type RotateApiKey = {
  /** How long the old key stays valid, in seconds; 86400 by default. */
  overlap_s?: number;
};

/** The body of `POST /api/webhooks/{id}/rotate`. */
export type RotateWebhookSecret = {
  /** How long the old secret signs too, in seconds; 86400 by default. */
  overlap_s?: number;
};

/** The answer of `POST /api/schedules`, `GET /api/schedules/{id}` and 1 more. */
export type Schedule = {
  id: string;
  name: string;
  user: string | null;
  created_by: Actor;
  cron: string | null;
  every_s: number | null;
  at: string | null;
  timezone: string;
  target: ScheduleTarget;
  /** As it was given. */
  content: string | ContentBlock[];
  overlap: 'queue' | 'skip' | 'interrupt';
  catch_up: 'none' | 'one' | 'all';
  jitter_s: number;
  paused: boolean;
  paused_reason: string | null;
  next_run_at: string | null;
  last_run_at: string | null;
  last_run: ScheduleRun | null;
  /** ISO 8601. */
  created_at: string;
  /** ISO 8601. */
  updated_at: string;
};

/** The answer of `GET /api/schedules`. */
export type ScheduleList = {
  data: Schedule[];
  next_cursor: string | null;
};

/** Part of `Schedule` and `ScheduleRunList`. */
export type ScheduleRun = {
  id: string;
  occurrence: string | null;
  missed_until: string | null;
  /** When it ran, or was skipped, or was found to be missed. */
  at: string;
  /** started: the input was posted; the job tells how it goes on. */
  status: 'started' | 'skipped' | 'failed' | 'missed';
  job_id: string | null;
  context_id: string | null;
  message_id: string | null;
  error: ScheduleRunError | null;
  manual: boolean;
};

/** Part of `ScheduleRun`. */
export type ScheduleRunError = {
  code: 'not_found' | 'invalid_request' | 'unsupported' | 'unknown_model' | 'unknown_tool' | 'unknown_role' | 'unauthorized' | 'forbidden' | 'tenant_suspended' | 'tenant_exists' | 'payload_too_large' | 'version_conflict' | 'idempotency_conflict' | 'context_busy' | 'worker_stopped' | 'not_queued' | 'not_waiting' | 'process_ended' | 'process_draining' | 'process_not_drainable' | 'branch_exists' | 'worker_limit' | 'queue_full' | 'quota_exceeded' | 'rate_limited' | 'unavailable' | 'internal';
  message: string;
};

/** The answer of `GET /api/schedules/{id}/runs`. */
export type ScheduleRunList = {
  data: ScheduleRun[];
  next_cursor: string | null;
};

/** Exactly one of `context_id` and `worker`. */
export type ScheduleTarget = {
  context_id?: string;
  worker?: ScheduledWorker;
};

/** The worker that each run creates. */
export type ScheduledWorker = {
  name: string;
  role?: string | null;
  config?: WorkerConfig;
};

/** Part of `SearchResultList`. */
export type SearchResult = {
  context_id: string;
  message_id: string;
  turn: string;
  role: 'user' | 'assistant';
  /** Plain text around the match, with matches between `**`. Not escaped for HTML. */
  snippet: string;
  /** Higher is better. Comparable within one search only. */
  rank: number;
  /** ISO 8601. */
  created_at: string;
};

/** The answer of `GET /api/search`. */
export type SearchResultList = {
  data: SearchResult[];
  next_cursor: string | null;
};

/** The request of one model call. `prefix` is null if the request before is unknown. */
export type SentPrompt = {
  job_id: string;
  n: number;
  message_id: string | null;
  attempt: number;
  /** provider/model */
  model: string;
  /** The system prompt. */
  system: string;
  /** The pinned texts, which follow the system prompt. */
  pinned: string;
  tools: SentTool[] | null;
  messages: ({
    role: 'user' | 'assistant';
    content: { [key: string]: Json }[];
  })[] | null;
  max_tokens: number | null;
  streaming: boolean;
  output_schema: { [key: string]: Json } | null;
  parameters: { [key: string]: Json };
  /** Whether all parts equal what was sent. Checked by hashes stored with the call. */
  exact: boolean;
  /** Parts that differ from what was sent: settings changed since, or an interrupt retracted messages since. */
  differs: ('tools' | 'system' | 'messages' | 'parameters')[];
  prefix: {
    lost_at: PrefixPart | null;
    message: number | null;
  } | null;
};

/** Part of `SentPrompt`. */
export type SentTool = {
  name: string;
  description: string;
  input_schema: { [key: string]: Json };
};

/** The answer of `GET /api/session`. */
export type Session = {
  /** `none`: there are no API keys and no OpenID Connect, so no sign-in is needed. */
  auth: 'none' | 'key';
  /** True with a key or a session cookie, and always if no sign-in is needed. */
  signed_in: boolean;
  tenant: string | null;
  user: string | null;
  /** What this request may do. Empty, if it is not signed in. `operator`, alone: with the admin key. An API without keys allows that, too, and does not name it. */
  scopes: ('read' | 'run' | 'configure' | 'approve' | 'keys' | 'operator')[];
  oidc: {
    /** The provider, as the sign-in page names it. */
    name: string;
  } | null;
};

/** Part of `SiblingList`. */
export type Sibling = {
  /** A branch with this message; the active one if it has it. */
  branch: string;
  /** The first message of the turn at this place. */
  message_id: string;
  turn: string;
  /** ISO 8601. */
  created_at: string;
  /** Whether the active branch has this message. */
  active: boolean;
};

/** The answer of `GET /api/contexts/{id}/messages/{message_id}/siblings`. */
export type SiblingList = {
  data: Sibling[];
};

/** Part of `DocumentBlock`, `ImageBlock` and 2 more. */
export type Source = StoredData | StoredUrl;

/** Has no id if the state is transient. */
export type StateChangedEvent = {
  context_id: string;
  new_state: 'Idle' | 'ProcessingUserMessage' | 'AwaitingLLMResponse' | 'StreamingLLMResponse' | 'ProcessingLLMResponse' | 'AwaitingToolApproval' | 'AwaitingInput' | 'AwaitingWorkers' | 'ExecutingTools' | 'TransientFailure' | 'PermanentFailure' | 'Stopped';
  job_id: string | null;
  /** Only of a transient state: when the first token of the answer arrived. */
  first_token_at?: string;
  /** When it was stored; of an event without an id, when it was sent. */
  at: string;
};

/** The answer of `GET /api/stats`. */
export type Stats = {
  /** Queued jobs. */
  queue_depth: number;
  /** Running jobs. */
  running: number;
  /** Waiting jobs. */
  waiting: number;
  /** Number of contexts by state. States without contexts are left out. */
  by_state: { [key: string]: number };
  /** Why contexts with work do not run now, the most contexts first. Reasons without any are left out. */
  waits: ({
    /** slot: they wait for a worker process. throttle: their provider is throttled. retry: a model call failed and is repeated later. timer: a tool waits for a time. unsupported: no worker process that tried them serves their model, tools or role. recovery: their worker process could not continue. */
    reason: 'slot' | 'approval' | 'answer' | 'workers' | 'throttle' | 'retry' | 'timer' | 'unsupported' | 'recovery';
    contexts: number;
    /** Since when the oldest of them waits. */
    since: string;
  })[];
};

/** Figures of the jobs that finished in this bucket. Null: no data. */
export type StatsBucket = {
  /** Start of the bucket. */
  at: string;
  finished: {
    completed: number;
    incomplete: number;
    failed: number;
    cancelled: number;
    interrupted: number;
  };
  /** Model calls of these jobs. */
  steps: number;
  usage: Usage;
  start_ms: Quantiles | null;
  first_token_ms: Quantiles | null;
  model_ms: Quantiles | null;
};

/** Counts and tokens are exact. first_token_ms and model_ms come from a sample of the last jobs of each bucket. */
export type StatsHistory = {
  /** ISO 8601. */
  from: string;
  /** ISO 8601. */
  to: string;
  bucket_s: number;
  data: StatsBucket[];
};

/** Part of `ExportedMessage`. */
export type StoredBlock = StoredText | StoredThinking | StoredToolUse | StoredToolResult | StoredImage | StoredDocument;

/** Part of `Source`. */
export type StoredData = {
  type: 'base64';
  media_type: string;
  data: string;
};

/** Part of `StoredBlock`. */
export type StoredDocument = {
  type: 'document';
  source: Source;
  title?: string;
};

/** Part of `StoredBlock` and `StoredResultPart`. */
export type StoredImage = {
  type: 'image';
  source: Source;
};

/** Part of `StoredToolResult`. */
export type StoredResultPart = StoredText | StoredImage;

/** Part of `StoredBlock` and `StoredResultPart`. */
export type StoredText = {
  type: 'text';
  text: string;
  provider?: {
    name: string;
    data: Json;
    model?: string;
  };
};

/** Part of `StoredBlock`. */
export type StoredThinking = {
  type: 'thinking';
  text: string;
  provider?: {
    name: string;
    data: Json;
    model?: string;
  };
};

/** Part of `StoredBlock`. */
export type StoredToolResult = {
  type: 'tool_result';
  tool_use_id: string;
  content: string | StoredResultPart[];
  is_error: boolean;
  compact_summary?: string;
};

/** Part of `StoredBlock`. */
export type StoredToolUse = {
  type: 'tool_use';
  id: string;
  name: string;
  input: Json;
  provider?: {
    name: string;
    data: Json;
    model?: string;
  };
};

/** Part of `Source`. */
export type StoredUrl = {
  type: 'url';
  url: string;
};

/** The answer of `GET /api/system`. */
export type System = {
  version: string;
  /** laptop: one process is both API and worker. */
  mode: 'laptop' | 'production';
  default_model: string;
  providers: ProviderStatus[];
  /** Prices of the config file. Other models have no known price. */
  prices: ModelPrice[];
  tools: ToolInfo[];
  mcp_servers: McpServerInfo[];
  limits: SystemLimits;
  processes: WorkerProcessInfo[] | null;
};

/** Limits by their names in the config file. Null: no limit. */
export type SystemLimits = {
  queued_inputs: number;
  max_steps: number;
  tool_result: number;
  tool_timeout_ms: number;
  depth: number;
  children: number;
  workers: number;
  tenant_workers: number | null;
  hops: number;
  messages_per_minute: number;
  archived_days: number | null;
  import_bytes: number;
  streams: number;
};

/** The answer of `POST /api/tenants`, `GET /api/tenants/{name}` and 2 more. */
export type Tenant = {
  name: string;
  /** suspended: all requests are refused, and nothing runs. deleting: its data is being deleted. */
  status: 'active' | 'suspended' | 'deleting';
  /** Null: as the config file says (`limits.tenant`), or no limit. */
  limits: {
    /** Its share of the slots while several tenants have work; 1 by default. */
    weight: number;
    requests_per_s: number | null;
    concurrent_requests: number | null;
    slots: number | null;
    queued_jobs: number | null;
    workers: number | null;
    streams: number | null;
    stored_mb: number | null;
    upload_mb: number | null;
    sql_ms: number | null;
  };
  /** What its workers may use. `*` in a name stands for any characters; null allows everything. */
  allow: {
    /** Names of tools, also those of MCP servers (`server__tool`). */
    tools: string[] | null;
    /** Names of roles, of the API or the config file. */
    roles: string[] | null;
    /** Names of MCP servers of the config file. */
    mcp_servers: string[] | null;
    /** Names of models, `provider/model`. */
    models: string[] | null;
  };
  /** ISO 8601. */
  created_at: string;
  deletion: {
    /** ISO 8601. */
    requested_at: string;
    deleted_workers: number;
  } | null;
};

/** The answer of `GET /api/tenants`. */
export type TenantList = {
  data: Tenant[];
  next_cursor: string | null;
};

/** The answer of `GET /api/usage`. */
export type TenantUsage = {
  /** Each limit, null: none, and what is used of it now. */
  limits: {
    requests_per_s: {
      limit: number | null;
      /** Null: it is not counted. */
      used: number | null;
    };
    concurrent_requests: {
      limit: number | null;
      /** Null: it is not counted. */
      used: number | null;
    };
    slots: {
      limit: number | null;
      /** Null: it is not counted. */
      used: number | null;
    };
    queued_jobs: {
      limit: number | null;
      /** Null: it is not counted. */
      used: number | null;
    };
    workers: {
      limit: number | null;
      /** Null: it is not counted. */
      used: number | null;
    };
    streams: {
      limit: number | null;
      /** Null: it is not counted. */
      used: number | null;
    };
    stored_mb: {
      limit: number | null;
      /** In MB, rounded up to three decimal places. Null: the tenant has no such limit, and is not measured. */
      used: number | null;
    };
    upload_mb: {
      limit: number | null;
      /** Null: it is not counted. */
      used: number | null;
    };
    sql_ms: {
      limit: number | null;
      /** Null: it is not counted. */
      used: number | null;
    };
  };
};

/** Part of `ContentBlock` and `ResultPart`. */
export type TextBlock = {
  type: 'text';
  text: string;
};

/** Part of `InputBlock` and `ResultInput`. */
export type TextInput = {
  type: 'text';
  text: string;
};

/** Part of `ContentBlock`. */
export type ThinkingBlock = {
  type: 'thinking';
  text: string;
};

/** Has no id. */
export type ThinkingDeltaEvent = {
  context_id: string;
  message_id: string;
  /** A higher attempt replaces the text of lower ones. */
  attempt: number;
  delta: string;
  /** Starts at 0 in each attempt. */
  sequence: number;
  /** When it was stored; of an event without an id, when it was sent. */
  at: string;
};

/** Part of `ProviderStatus`. */
export type Throttle = {
  /** For `DELETE /api/providers/{name}/throttles/{id}`. */
  id: string;
  model: string;
  reason: string;
  /** ISO 8601. */
  since: string;
  /** ISO 8601. */
  until: string;
  /** The tenants whose calls the provider refused. */
  tenants: string[];
};

/** Part of `ToolList`. */
export type Tool = {
  name: string;
  /** own: config file. built_in: part of Nightshift. mcp: an MCP server. elsewhere: served by a worker process, unknown to this API process. sent: offered to models of the tenant in the last 90 days, and no process serves it. Tools of clients are not listed: the configs of their workers have them. */
  source: 'own' | 'built_in' | 'mcp' | 'elsewhere' | 'sent';
  server: string | null;
  description: string | null;
  input_schema: { [key: string]: Json } | null;
  effect: 'none' | 'idempotent' | 'once' | null;
  approval: 'never' | 'always' | 'deny' | 'by_call' | null;
  answered_by: 'tool' | 'person' | 'client' | 'workers' | 'timer' | null;
  timeout_ms: number | null;
  /** A live worker process serves it. */
  served: boolean;
  processes: number | null;
};

/** The answer of `GET /api/contexts/{id}/tools/{tool_call_id}` and `POST /api/contexts/{id}/tools/{tool_call_id}/resolve`. */
export type ToolCall = {
  id: string;
  context_id: string;
  job_id: string;
  /** The assistant message with the call. */
  message_id: string;
  name: string;
  /** The input that the model sent. */
  input: Json;
  /** The input that the tool gets: `input`, or the replacement given with the approval. */
  run_input: Json;
  effect: 'none' | 'idempotent' | 'once';
  on_unknown: 'tell' | 'ask';
  status: 'pending' | 'started' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'denied' | 'expired' | 'unknown';
  waits_for: 'approval' | 'answer' | 'outcome' | 'workers' | 'timer' | null;
  waits_since: string | null;
  waits_until: string | null;
  approval: ToolCallApproval | null;
  executions: ToolExecution[];
  progress: ToolProgress | null;
  log: ToolLog;
  /** Oldest first; the last 100. */
  tool_steps: ToolStep[];
  result_message_id: string | null;
  /** ISO 8601. */
  created_at: string;
  finished_at: string | null;
};

/** `input` replaces the input of the model. Null: unchanged. */
export type ToolCallApproval = {
  decision: 'approve' | 'deny';
  reason: string | null;
  input: Json;
  /** ISO 8601. */
  at: string;
  actor: Actor | null;
};

/** The data of the event `ToolCallFinished`. */
export type ToolCallFinishedEvent = {
  context_id: string;
  tool_call_id: string;
  name: string;
  status: 'pending' | 'started' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'denied' | 'expired' | 'unknown';
  /** When it was stored; of an event without an id, when it was sent. */
  at: string;
};

/** Has no id. How far a running call is: at most four times a second. The last one is kept with the call. */
export type ToolCallProgressEvent = {
  context_id: string;
  tool_call_id: string;
  name: string;
  job_id: string;
  attempt: number;
  progress: ToolProgress;
  /** When it was stored; of an event without an id, when it was sent. */
  at: string;
};

/** The data of the event `ToolCallStarted`. */
export type ToolCallStartedEvent = {
  context_id: string;
  tool_call_id: string;
  name: string;
  status: 'pending' | 'started' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'denied' | 'expired' | 'unknown';
  /** When it was stored; of an event without an id, when it was sent. */
  at: string;
};

/** One execution of a call. A call without effect, or an idempotent one, that a crash interrupted has no record of that execution: it ran again. */
export type ToolExecution = {
  number: number;
  /** Epoch of the lease of the run. */
  epoch: number;
  /** The key that the tool got; the same for all executions of the call. */
  idempotency_key: string;
  /** ISO 8601. */
  began_at: string;
  ended_at: string | null;
  outcome: 'completed' | 'failed' | 'cancelled' | 'unknown' | 'did_not_happen' | null;
};

/** Part of `ToolUse`. */
export type ToolFailure = {
  /** ISO 8601. */
  at: string;
  /** Of a failed call. Otherwise how it ended: denied, expired, unknown. */
  code: string;
  context_id: string;
  job_id: string;
  tool_call_id: string;
};

/** Part of `McpServerInfo` and `System`. */
export type ToolInfo = {
  name: string;
  /** own: config file. built_in: part of Nightshift. mcp: an MCP server. elsewhere: served by a worker process, unknown to this API process. */
  source: 'own' | 'built_in' | 'mcp' | 'elsewhere';
  description: string | null;
  effect: 'none' | 'idempotent' | 'once' | null;
  approval: 'never' | 'always' | 'deny' | 'by_call' | null;
  /** A live worker process serves it. */
  served: boolean;
};

/** The answer of `GET /api/tools`. */
export type ToolList = {
  data: Tool[];
};

/** How many entries the tool wrote to the log of the call. */
export type ToolLog = {
  entries: number;
  /** Entries beyond the limits of a call, which are not stored. */
  dropped: number;
};

/** The last progress that a tool reported. */
export type ToolProgress = {
  message: string | null;
  done: number | null;
  total: number | null;
  /** ISO 8601. */
  at: string;
};

/** Part of `ContentBlock`. */
export type ToolResultBlock = {
  type: 'tool_result';
  tool_use_id: string;
  content: string | ResultPart[];
  is_error: boolean;
  compact_summary?: string;
};

/** A durable step of a call (`context.step` of the tool): it does not run again. No client reads its result. */
export type ToolStep = {
  name: string;
  /** ISO 8601. */
  ended_at: string;
  /** Of its stored result, as JSON. */
  bytes: number;
};

/** Part of `ToolUseList`. */
export type ToolUse = {
  name: string;
  /** All ended calls, except those that were cancelled with their job. */
  calls: number;
  completed: number;
  failed: number;
  denied: number;
  expired: number;
  unknown: number;
  /** Failed calls by code. error: without a code. other: codes beyond the twentieth. */
  codes: { [key: string]: number };
  duration_ms: Quantiles | null;
  /** ISO 8601. */
  last_called_at: string;
  /** The last ones, at most five, newest first. */
  failures: ToolFailure[];
};

/** Part of `ContentBlock`. */
export type ToolUseBlock = {
  type: 'tool_use';
  id: string;
  name: string;
  input: Json;
};

/** Worker processes count calls as they end and store the figures once a minute, by hour. What a process had not stored when it was killed is missing. */
export type ToolUseList = {
  /** The beginning of the first hour. */
  from: string;
  data: ToolUse[];
};

/** Part of `TurnList`. */
export type Turn = {
  /** The number in `u1` and `a1` is 1. */
  number: number;
  input_message_ids: string[];
  /** Messages that answer the input, in order: answers of the model, tool results, notes. */
  answer_message_ids: string[];
  tool_calls: TurnCall[];
  job: {
    id: string;
    status: 'delayed' | 'queued' | 'running' | 'waiting' | 'completed' | 'incomplete' | 'failed' | 'cancelled' | 'interrupted';
  } | null;
};

/** Part of `Turn`. */
export type TurnCall = {
  id: string;
  name: string;
  status: 'pending' | 'started' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'denied' | 'expired' | 'unknown';
  /** The message with the call. */
  message_id: string;
  result_message_id: string | null;
};

/** The answer of `GET /api/contexts/{id}/turns`. */
export type TurnList = {
  data: Turn[];
  next_cursor: string | null;
};

/** Part of `DocumentSource` and `ImageSource`. */
export type UrlSource = {
  type: 'url';
  url: string;
};

/** Part of `Branch`, `ChildJob` and 7 more. */
export type Usage = {
  /** Without tokens read from a cache. */
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  cache_hit_ratio: number | null;
  cost: string | null;
};

/** An event that the job waits for. */
export type WaitingFor = {
  /** input: a person or a client answers a call. approval: a person decides whether a call runs, or resolves its unknown outcome. worker: another worker must finish. timer: nothing happens before `until`; for a sleeping call with its name and id. If worker_id is set and kind is not worker, a worker below waits for it. */
  kind: 'approval' | 'input' | 'worker' | 'timer';
  tool_call_id?: string;
  /** Name of the tool. */
  name?: string;
  worker_id?: string;
  /** ISO 8601. */
  until?: string;
};

/** The answer of `GET /api/webhooks/{id}` and `PATCH /api/webhooks/{id}`. */
export type Webhook = {
  id: string;
  url: string;
  events: ('job.started' | 'job.waiting' | 'job.finished' | 'approval.requested' | 'approval.resolved' | 'worker.failed')[];
  filter: WebhookFilter | null;
  /** disabled: nothing is sent, and events meanwhile are not kept for it. */
  status: 'active' | 'disabled';
  disabled_reason: 'requested' | 'failing' | 'gone' | 'backlog' | null;
  /** ISO 8601. */
  created_at: string;
  /** ISO 8601. */
  updated_at: string;
  last_success_at: string | null;
  last_failure_at: string | null;
  last_error: string | null;
  failing_since: string | null;
  /** Deliveries that are neither delivered nor given up. */
  pending: number;
};

/** Part of `CreateWebhook`, `CreatedWebhook` and 2 more. */
export type WebhookFilter = {
  /** Only jobs of workers with this role. */
  role?: string;
  /** Only jobs whose metadata contains this object. */
  metadata?: { [key: string]: Json };
};

/** The answer of `GET /api/webhooks`. */
export type WebhookList = {
  data: Webhook[];
  next_cursor: string | null;
};

/** The answer of `POST /api/webhooks/{id}/test`, `GET /api/webhooks/{id}/deliveries/{delivery_id}` and 1 more. */
export type WholeDelivery = {
  /** Also the header webhook-id, the same in every attempt. */
  id: string;
  webhook_id: string;
  type: 'job.started' | 'job.waiting' | 'job.finished' | 'approval.requested' | 'approval.resolved' | 'worker.failed' | 'webhook.test';
  context_id: string | null;
  job_id: string | null;
  seq: number | null;
  /** failed: given up. */
  status: 'pending' | 'delivered' | 'failed';
  attempts: number;
  /** ISO 8601. */
  created_at: string;
  next_attempt_at: string | null;
  last_attempt_at: string | null;
  delivered_at: string | null;
  duration_ms: number | null;
  response_status: number | null;
  error: string | null;
  /** The body of the request, as it is signed. */
  body: string;
  response_body: string | null;
};

/** The answer of `PATCH /api/workers/{id}`, `POST /api/workers/{id}/stop` and 1 more. */
export type Worker = {
  id: string;
  name: string;
  user: string | null;
  role: string | null;
  role_version: number | null;
  config: WorkerConfig;
  state: 'inactive' | 'working' | 'waiting' | 'failed' | 'stopped';
  last_failure: WorkerFailure | null;
  context_id: string;
  parent_worker_id: string | null;
  depth: number;
  /** ISO 8601. */
  created_at: string;
  /** ISO 8601. */
  updated_at: string;
};

/** Missing fields come from the role, then from the defaults. At most 64 KB of JSON. */
export type WorkerConfig = {
  /** provider/model */
  model?: string;
  streaming?: boolean;
  system_prompt?: string;
  /** plan: the model gets only tools without effect, and answers have the type plan. */
  mode?: 'act' | 'plan';
  tools?: string[];
  client_tools?: ClientTool[];
  /** Names of MCP servers in the config file. The worker gets all their tools. */
  mcp_servers?: string[];
  /** Approval rules. The first matching rule of the config applies, then that of the role. A matching `deny` always applies. The stricter of the rule and the setting of the tool counts. */
  approval?: ApprovalRule[];
  max_tokens?: number;
  /** Maximum number of tokens of a prompt. Default: 200000 for anthropic, 128000 for openai and openai-chat, 1000000 for simulated. */
  context_limit?: number;
  compaction?: Compaction;
  pinned?: PinnedText[];
  max_steps?: number;
  output_schema?: OutputSchema;
  /** How often the model is asked again after an answer that does not match output_schema. Default: 2. */
  output_retries?: number;
  /** Passed unchanged to the provider. Allowed parameters: see docs/providers.md. Reserved names: model, messages, input, stream, tools, n, store, background. */
  parameters?: { [key: string]: Json };
  /** Seconds without activity after which the context is archived. Not set: never. */
  idle_timeout_s?: number;
  limits?: WorkerLimits;
};

/** Part of `CreatedWorker`, `ReadWorker` and 1 more. */
export type WorkerFailure = {
  code: 'empty_context' | 'nothing_to_answer' | 'provider_auth' | 'provider_refused' | 'provider_overloaded' | 'provider_rate_limited' | 'provider_bad_request' | 'prompt_too_long' | 'provider_unreachable' | 'stream_interrupted' | 'not_allowed' | 'crash_loop' | 'output_invalid' | 'max_steps' | 'deadline' | 'internal';
  message: string;
  job_id: string;
  /** ISO 8601. */
  at: string;
};

/** Limits for workers below this one. depth: the deepest level (a worker without parent has 0). children: children of each worker. workers: workers of the tree that may work at once. The lowest of the values of the installation, the role and the config applies. */
export type WorkerLimits = {
  depth?: number;
  children?: number;
  workers?: number;
};

/** The answer of `GET /api/workers`. */
export type WorkerList = {
  data: Worker[];
  next_cursor: string | null;
};

/** Part of `WorkerProcessList`. */
export type WorkerProcess = {
  id: string;
  host: string;
  pid: number;
  version: string;
  /** paused: its runs go on, and it begins no other. draining: it releases its runs, and then it ends. stopped: it ended by itself. lost: its heartbeats ended. */
  status: 'running' | 'paused' | 'draining' | 'stopped' | 'lost';
  /** What the operator asked for last. The process follows with its next heartbeat. */
  requested_status: 'running' | 'paused' | 'draining';
  /** False: it also serves the API, or belongs to another program, so a request cannot end it. */
  can_drain: boolean;
  /** ISO 8601. */
  started_at: string;
  /** ISO 8601. */
  heartbeat_at: string;
  ended_at: string | null;
  /** Contexts that it runs now. */
  running: number;
  concurrency: number | null;
  providers: string[];
  mcp_servers: string[];
};

/** Part of `System`. */
export type WorkerProcessInfo = {
  id: string;
  host: string;
  pid: number;
  version: string;
  /** ISO 8601. */
  started_at: string;
  /** ISO 8601. */
  heartbeat_at: string;
  concurrency: number | null;
  running: number | null;
  providers: string[];
  mcp_servers: string[];
};

/** The answer of `GET /api/processes`. */
export type WorkerProcessList = {
  data: WorkerProcess[];
  next_cursor: string | null;
};

/** A call created the worker `name` and gave it a job. */
export type WorkerSpawnedEvent = {
  context_id: string;
  tool_call_id: string;
  name: string;
  worker_id: string;
  job_id: string;
  /** When it was stored; of an event without an id, when it was sent. */
  at: string;
};

/** The answer of `GET /api/workers/{id}/tree`. */
export type WorkerTree = {
  id: string;
  name: string;
  context_id: string;
  depth: number;
  /** The worker continues when its parent is stopped or deleted. */
  detached: boolean;
  state: 'inactive' | 'working' | 'waiting' | 'failed' | 'stopped';
  job: WorkerTreeJob | null;
  usage: Usage;
  children: WorkerTreeNode[];
  /** The tree has more workers; the deepest ones are left out. */
  truncated: boolean;
};

/** The unfinished job, or else the last one. */
export type WorkerTreeJob = {
  id: string;
  status: 'delayed' | 'queued' | 'running' | 'waiting' | 'completed' | 'incomplete' | 'failed' | 'cancelled' | 'interrupted';
  started_at: string | null;
  finished_at: string | null;
};

/** Part of `WorkerTree`. */
export type WorkerTreeNode = {
  id: string;
  name: string;
  context_id: string;
  depth: number;
  /** The worker continues when its parent is stopped or deleted. */
  detached: boolean;
  state: 'inactive' | 'working' | 'waiting' | 'failed' | 'stopped';
  job: WorkerTreeJob | null;
  usage: Usage;
  children: WorkerTreeNode[];
};

/** Data by the name of its event. */
export type EventData = {
  ApprovalRequested: ApprovalRequestedEvent;
  ApprovalResolved: ApprovalResolvedEvent;
  BranchCreated: BranchCreatedEvent;
  BranchDeleted: BranchDeletedEvent;
  BranchSwitched: BranchSwitchedEvent;
  Changed: ChangedEvent;
  ContentDelta: ContentDeltaEvent;
  ContentSnapshot: ContentSnapshotEvent;
  ContextCleared: ContextClearedEvent;
  ContextCompacted: ContextCompactedEvent;
  ContextImported: ContextImportedEvent;
  Heartbeat: HeartbeatEvent;
  InputRequested: InputRequestedEvent;
  JobFinished: JobFinishedEvent;
  JobStarted: JobStartedEvent;
  MessageCompleted: MessageCompletedEvent;
  MessageIncomplete: MessageIncompleteEvent;
  MessagesRetracted: MessagesRetractedEvent;
  OutcomeResolved: OutcomeResolvedEvent;
  OutcomeUnknown: OutcomeUnknownEvent;
  StateChanged: StateChangedEvent;
  ThinkingDelta: ThinkingDeltaEvent;
  ToolCallFinished: ToolCallFinishedEvent;
  ToolCallProgress: ToolCallProgressEvent;
  ToolCallStarted: ToolCallStartedEvent;
  WorkerSpawned: WorkerSpawnedEvent;
};

/** The names of all events. */
export const EVENT_NAMES = [
  'ApprovalRequested',
  'ApprovalResolved',
  'BranchCreated',
  'BranchDeleted',
  'BranchSwitched',
  'Changed',
  'ContentDelta',
  'ContentSnapshot',
  'ContextCleared',
  'ContextCompacted',
  'ContextImported',
  'Heartbeat',
  'InputRequested',
  'JobFinished',
  'JobStarted',
  'MessageCompleted',
  'MessageIncomplete',
  'MessagesRetracted',
  'OutcomeResolved',
  'OutcomeUnknown',
  'StateChanged',
  'ThinkingDelta',
  'ToolCallFinished',
  'ToolCallProgress',
  'ToolCallStarted',
  'WorkerSpawned',
] as const satisfies (keyof EventData)[];

/** What each operation takes and answers. */
export type Operations = {
  'POST /api/workers': {
    path: undefined;
    query: undefined;
    body: CreateWorker;
    answer: CreatedWorker;
  };
  'GET /api/workers': {
    path: undefined;
    query: { limit?: number; cursor?: string; user?: string; parent_worker_id?: string; role?: string; state?: 'inactive' | 'working' | 'waiting' | 'failed' | 'stopped'; archived?: boolean };
    body: undefined;
    answer: WorkerList;
  };
  'GET /api/workers/{id}': {
    path: { id: string };
    query: { include?: 'effective' };
    body: undefined;
    answer: ReadWorker;
  };
  'PATCH /api/workers/{id}': {
    path: { id: string };
    query: undefined;
    body: PatchWorker | undefined;
    answer: Worker;
  };
  'DELETE /api/workers/{id}': {
    path: { id: string };
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  'POST /api/workers/{id}/stop': {
    path: { id: string };
    query: undefined;
    body: undefined;
    answer: Worker;
  };
  'POST /api/workers/{id}/start': {
    path: { id: string };
    query: undefined;
    body: undefined;
    answer: Worker;
  };
  'GET /api/workers/{id}/tree': {
    path: { id: string };
    query: { limit?: number };
    body: undefined;
    answer: WorkerTree;
  };
  'POST /api/contexts': {
    path: undefined;
    query: undefined;
    body: CreateContext | undefined;
    answer: Context;
  };
  'GET /api/contexts': {
    path: undefined;
    query: { limit?: number; cursor?: string; user?: string; state?: 'Idle' | 'ProcessingUserMessage' | 'AwaitingLLMResponse' | 'StreamingLLMResponse' | 'ProcessingLLMResponse' | 'AwaitingToolApproval' | 'AwaitingInput' | 'AwaitingWorkers' | 'ExecutingTools' | 'TransientFailure' | 'PermanentFailure' | 'Stopped' | ('Idle' | 'ProcessingUserMessage' | 'AwaitingLLMResponse' | 'StreamingLLMResponse' | 'ProcessingLLMResponse' | 'AwaitingToolApproval' | 'AwaitingInput' | 'AwaitingWorkers' | 'ExecutingTools' | 'TransientFailure' | 'PermanentFailure' | 'Stopped')[]; role?: string; archived?: boolean; spawned?: boolean; parent_worker_id?: string; sort?: 'created' | 'activity'; q?: string };
    body: undefined;
    answer: ContextList;
  };
  'GET /api/contexts/{id}': {
    path: { id: string };
    query: undefined;
    body: undefined;
    answer: Context;
  };
  'PATCH /api/contexts/{id}': {
    path: { id: string };
    query: undefined;
    body: PatchContext | undefined;
    answer: Context;
  };
  'PUT /api/contexts/{id}': {
    path: { id: string };
    query: undefined;
    body: PutContext | undefined;
    answer: Context;
  };
  'DELETE /api/contexts/{id}': {
    path: { id: string };
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  'GET /api/contexts/{id}/state': {
    path: { id: string };
    query: undefined;
    body: undefined;
    answer: ContextState;
  };
  'POST /api/contexts/{id}/clear': {
    path: { id: string };
    query: undefined;
    body: undefined;
    answer: Context;
  };
  'POST /api/contexts/{id}/messages': {
    path: { id: string };
    query: undefined;
    body: PostMessage;
    answer: Accepted;
  };
  'GET /api/contexts/{id}/messages': {
    path: { id: string };
    query: { limit?: number; cursor?: string; branch?: string; turn?: string; include?: 'retracted' | 'compacted' | 'tool_calls' | ('retracted' | 'compacted' | 'tool_calls')[]; order?: 'asc' | 'desc'; from?: string; at?: string };
    body: undefined;
    answer: MessageList;
  };
  'POST /api/workers/{id}/messages': {
    path: { id: string };
    query: undefined;
    body: PostMessage;
    answer: Accepted;
  };
  'POST /api/contexts/{id}/jobs': {
    path: { id: string };
    query: undefined;
    body: PostJob | undefined;
    answer: Accepted;
  };
  'GET /api/contexts/{id}/messages/{message_id}': {
    path: { id: string; message_id: string };
    query: undefined;
    body: undefined;
    answer: Message;
  };
  'PATCH /api/contexts/{id}/messages/{message_id}': {
    path: { id: string; message_id: string };
    query: undefined;
    body: PatchMessage | undefined;
    answer: Message;
  };
  'DELETE /api/contexts/{id}/messages/{message_id}': {
    path: { id: string; message_id: string };
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  'GET /api/contexts/{id}/turns': {
    path: { id: string };
    query: { limit?: number; cursor?: string; branch?: string; order?: 'asc' | 'desc' };
    body: undefined;
    answer: TurnList;
  };
  'POST /api/contexts/{id}/messages/{message_id}/edit': {
    path: { id: string; message_id: string };
    query: undefined;
    body: EditMessage;
    answer: AcceptedOnBranch;
  };
  'POST /api/contexts/{id}/messages/{message_id}/regenerate': {
    path: { id: string; message_id: string };
    query: undefined;
    body: Regenerate | undefined;
    answer: AcceptedOnBranch;
  };
  'GET /api/contexts/{id}/messages/{message_id}/siblings': {
    path: { id: string; message_id: string };
    query: undefined;
    body: undefined;
    answer: SiblingList;
  };
  'GET /api/contexts/{id}/branches': {
    path: { id: string };
    query: { limit?: number; cursor?: string };
    body: undefined;
    answer: BranchList;
  };
  'POST /api/contexts/{id}/branches': {
    path: { id: string };
    query: undefined;
    body: CreateBranch;
    answer: Branch;
  };
  'PUT /api/contexts/{id}/branches/{name}': {
    path: { id: string; name: string };
    query: undefined;
    body: undefined;
    answer: Branch;
  };
  'DELETE /api/contexts/{id}/branches/{name}': {
    path: { id: string; name: string };
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  'POST /api/contexts/{id}/fork': {
    path: { id: string };
    query: undefined;
    body: ForkContext | undefined;
    answer: Context;
  };
  'GET /api/contexts/{id}/tools/{tool_call_id}': {
    path: { id: string; tool_call_id: string };
    query: undefined;
    body: undefined;
    answer: ToolCall;
  };
  'POST /api/contexts/{id}/tools/{tool_call_id}/resolve': {
    path: { id: string; tool_call_id: string };
    query: undefined;
    body: ResolveToolCall;
    answer: ToolCall;
  };
  'POST /api/contexts/{id}/tools/{tool_call_id}/result': {
    path: { id: string; tool_call_id: string };
    query: undefined;
    body: PostResult;
    answer: Accepted;
  };
  'POST /api/contexts/{id}/tools/approve': {
    path: { id: string };
    query: undefined;
    body: ApproveCalls;
    answer: Resolved;
  };
  'GET /api/approvals': {
    path: undefined;
    query: { limit?: number; cursor?: string; kind?: 'approval' | 'input' | 'unknown_outcome'; user?: string };
    body: undefined;
    answer: Inbox;
  };
  'GET /api/contexts/{id}/grants': {
    path: { id: string };
    query: undefined;
    body: undefined;
    answer: GrantList;
  };
  'DELETE /api/contexts/{id}/grants/{tool}': {
    path: { id: string; tool: string };
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  'POST /api/contexts/{id}/interrupt': {
    path: { id: string };
    query: undefined;
    body: Interrupt | undefined;
    answer: Interruption;
  };
  'POST /api/contexts/{id}/compact': {
    path: { id: string };
    query: undefined;
    body: CompactContext | undefined;
    answer: CompactAccepted;
  };
  'GET /api/contexts/{id}/compactions': {
    path: { id: string };
    query: { limit?: number; cursor?: string };
    body: undefined;
    answer: ContextCompactionList;
  };
  'POST /api/jobs/cancel': {
    path: undefined;
    query: undefined;
    body: CancelJobs | undefined;
    answer: Cancelled;
  };
  'POST /api/jobs/retry': {
    path: undefined;
    query: undefined;
    body: RetryJobs | undefined;
    answer: RetriedJobs;
  };
  'GET /api/contexts/{id}/events': {
    path: { id: string };
    query: { after?: number };
    body: undefined;
    answer: string;
  };
  'GET /api/events': {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: string;
  };
  'POST /api/chat': {
    path: undefined;
    query: undefined;
    body: Chat;
    answer: ChatAccepted;
  };
  'GET /api/jobs': {
    path: undefined;
    query: { limit?: number; cursor?: string; q?: string; sort?: 'created' | '-created' | 'cost' | '-cost' | 'duration' | '-duration' | 'tokens' | '-tokens'; include?: 'why'; status?: 'delayed' | 'queued' | 'running' | 'waiting' | 'completed' | 'incomplete' | 'failed' | 'cancelled' | 'interrupted' | ('delayed' | 'queued' | 'running' | 'waiting' | 'completed' | 'incomplete' | 'failed' | 'cancelled' | 'interrupted')[]; kind?: 'input' | 'retry' | 'compact'; user?: string; role?: string; metadata?: string; context_id?: string; worker_id?: string; parent_job_id?: string; created_after?: string; created_before?: string };
    body: undefined;
    answer: JobList;
  };
  'GET /api/jobs/{id}': {
    path: { id: string };
    query: { wait_ms?: number; until?: 'end' | 'waiting' };
    body: undefined;
    answer: Job;
  };
  'POST /api/jobs/{id}/cancel': {
    path: { id: string };
    query: undefined;
    body: CancelJob | undefined;
    answer: Receipt;
  };
  'GET /api/jobs/{id}/steps': {
    path: { id: string };
    query: { limit?: number; cursor?: string };
    body: undefined;
    answer: JobStepList;
  };
  'GET /api/jobs/{id}/steps/{n}/prompt': {
    path: { id: string; n: number };
    query: undefined;
    body: undefined;
    answer: SentPrompt;
  };
  'GET /api/jobs/{id}/logs': {
    path: { id: string };
    query: { limit?: number; cursor?: string; level?: 'debug' | 'info' | 'warn' | 'error'; tool_call_id?: string; after?: string };
    body: undefined;
    answer: LogEntryList;
  };
  'GET /api/roles': {
    path: undefined;
    query: { limit?: number; cursor?: string };
    body: undefined;
    answer: RoleList;
  };
  'GET /api/roles/{name}': {
    path: { name: string };
    query: { include?: 'effective'; version?: number };
    body: undefined;
    answer: ReadRole;
  };
  'PUT /api/roles/{name}': {
    path: { name: string };
    query: undefined;
    body: RoleDefinition | undefined;
    answer: Role;
  };
  'DELETE /api/roles/{name}': {
    path: { name: string };
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  'GET /api/roles/{name}/versions': {
    path: { name: string };
    query: { limit?: number; cursor?: string };
    body: undefined;
    answer: RoleVersionList;
  };
  'GET /api/schedules': {
    path: undefined;
    query: { limit?: number; cursor?: string };
    body: undefined;
    answer: ScheduleList;
  };
  'POST /api/schedules': {
    path: undefined;
    query: undefined;
    body: CreateSchedule;
    answer: Schedule;
  };
  'GET /api/schedules/{id}': {
    path: { id: string };
    query: undefined;
    body: undefined;
    answer: Schedule;
  };
  'PATCH /api/schedules/{id}': {
    path: { id: string };
    query: undefined;
    body: PatchSchedule | undefined;
    answer: Schedule;
  };
  'DELETE /api/schedules/{id}': {
    path: { id: string };
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  'POST /api/schedules/{id}/run': {
    path: { id: string };
    query: undefined;
    body: undefined;
    answer: Accepted;
  };
  'GET /api/schedules/{id}/runs': {
    path: { id: string };
    query: { limit?: number; cursor?: string };
    body: undefined;
    answer: ScheduleRunList;
  };
  'GET /api/contexts/{id}/export': {
    path: { id: string };
    query: { format?: 'json' | 'markdown' | 'paired' };
    body: undefined;
    answer: ContextExport | PairedExport | string;
  };
  'GET /api/search': {
    path: undefined;
    query: { q?: string; context_id?: string; worker_id?: string; user?: string; role?: string; message_role?: 'user' | 'assistant'; created_after?: string; created_before?: string; limit?: number; cursor?: string };
    body: undefined;
    answer: SearchResultList;
  };
  'GET /api/keys': {
    path: undefined;
    query: { limit?: number; cursor?: string };
    body: undefined;
    answer: ApiKeyList;
  };
  'POST /api/keys': {
    path: undefined;
    query: undefined;
    body: CreateApiKey;
    answer: CreatedApiKey;
  };
  'DELETE /api/keys/{id}': {
    path: { id: string };
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  'POST /api/keys/{id}/rotate': {
    path: { id: string };
    query: undefined;
    body: RotateApiKey | undefined;
    answer: CreatedApiKey;
  };
  'POST /api/tokens': {
    path: undefined;
    query: undefined;
    body: CreateToken;
    answer: CreatedToken;
  };
  'DELETE /api/tokens': {
    path: undefined;
    query: { user: string };
    body: undefined;
    answer: undefined;
  };
  'GET /api/webhooks': {
    path: undefined;
    query: { limit?: number; cursor?: string };
    body: undefined;
    answer: WebhookList;
  };
  'POST /api/webhooks': {
    path: undefined;
    query: undefined;
    body: CreateWebhook;
    answer: CreatedWebhook;
  };
  'GET /api/webhooks/{id}': {
    path: { id: string };
    query: undefined;
    body: undefined;
    answer: Webhook;
  };
  'PATCH /api/webhooks/{id}': {
    path: { id: string };
    query: undefined;
    body: PatchWebhook | undefined;
    answer: Webhook;
  };
  'DELETE /api/webhooks/{id}': {
    path: { id: string };
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  'POST /api/webhooks/{id}/rotate': {
    path: { id: string };
    query: undefined;
    body: RotateWebhookSecret | undefined;
    answer: CreatedWebhook;
  };
  'POST /api/webhooks/{id}/test': {
    path: { id: string };
    query: undefined;
    body: undefined;
    answer: WholeDelivery;
  };
  'GET /api/webhooks/{id}/deliveries': {
    path: { id: string };
    query: { limit?: number; cursor?: string; status?: 'pending' | 'delivered' | 'failed'; job_id?: string };
    body: undefined;
    answer: DeliveryList;
  };
  'GET /api/webhooks/{id}/deliveries/{delivery_id}': {
    path: { id: string; delivery_id: string };
    query: undefined;
    body: undefined;
    answer: WholeDelivery;
  };
  'POST /api/webhooks/{id}/deliveries/{delivery_id}/retry': {
    path: { id: string; delivery_id: string };
    query: undefined;
    body: undefined;
    answer: WholeDelivery;
  };
  'GET /api/session': {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: Session;
  };
  'POST /api/session': {
    path: undefined;
    query: undefined;
    body: BeginSession;
    answer: undefined;
  };
  'DELETE /api/session': {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  'GET /api/stats/history': {
    path: undefined;
    query: { from?: string; to?: string; bucket?: number };
    body: undefined;
    answer: StatsHistory;
  };
  'GET /api/usage': {
    path: undefined;
    query: { tenant?: string };
    body: undefined;
    answer: TenantUsage;
  };
  'GET /api/system': {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: System;
  };
  'GET /api/processes': {
    path: undefined;
    query: { limit?: number; cursor?: string; live?: boolean };
    body: undefined;
    answer: WorkerProcessList;
  };
  'POST /api/processes/{id}/pause': {
    path: { id: string };
    query: undefined;
    body: undefined;
    answer: RequestedProcess;
  };
  'POST /api/processes/{id}/resume': {
    path: { id: string };
    query: undefined;
    body: undefined;
    answer: RequestedProcess;
  };
  'POST /api/processes/{id}/drain': {
    path: { id: string };
    query: undefined;
    body: undefined;
    answer: RequestedProcess;
  };
  'GET /api/tools': {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: ToolList;
  };
  'GET /api/tools/use': {
    path: undefined;
    query: { hours?: number };
    body: undefined;
    answer: ToolUseList;
  };
  'DELETE /api/providers/{name}/throttles/{id}': {
    path: { name: 'anthropic' | 'openai' | 'openai-chat' | 'simulated'; id: string };
    query: undefined;
    body: undefined;
    answer: undefined;
  };
  'GET /api/tenants': {
    path: undefined;
    query: { limit?: number; cursor?: string };
    body: undefined;
    answer: TenantList;
  };
  'POST /api/tenants': {
    path: undefined;
    query: undefined;
    body: CreateTenant;
    answer: Tenant;
  };
  'GET /api/tenants/{name}': {
    path: { name: string };
    query: undefined;
    body: undefined;
    answer: Tenant;
  };
  'PATCH /api/tenants/{name}': {
    path: { name: string };
    query: undefined;
    body: PatchTenant | undefined;
    answer: Tenant;
  };
  'DELETE /api/tenants/{name}': {
    path: { name: string };
    query: undefined;
    body: undefined;
    answer: Tenant;
  };
  'GET /api/audit': {
    path: undefined;
    query: { limit?: number; cursor?: string; actor?: string; action?: 'key.created' | 'key.rotated' | 'key.revoked' | 'token.created' | 'tokens.revoked' | 'session.started' | 'session.ended' | 'tool_call.approved' | 'tool_call.denied' | 'tool_call.resolved' | 'grant.removed' | 'role.saved' | 'role.deleted' | 'schedule.created' | 'schedule.changed' | 'schedule.deleted' | 'schedule.run' | 'webhook.created' | 'webhook.changed' | 'webhook.rotated' | 'webhook.disabled' | 'webhook.deleted' | 'job.retried' | 'config.changed' | 'context.imported' | 'context.deleted' | 'worker.deleted' | 'tenant.created' | 'tenant.changed' | 'tenant.deleted' | 'throttle.ended' | 'process.paused' | 'process.resumed' | 'process.drained'; target?: string; after?: string; before?: string };
    body: undefined;
    answer: AuditEntryList;
  };
  'GET /healthz': {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: Health;
  };
  'GET /readyz': {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: Readiness;
  };
  'GET /metrics': {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: string;
  };
  'GET /metrics/load': {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: Load;
  };
  'GET /api/stats': {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: Stats;
  };
  'GET /api/openapi.json': {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: { [key: string]: Json };
  };
  'POST /api/contexts/import': {
    path: undefined;
    query: { user?: string };
    body: ImportContext | undefined;
    answer: Context;
  };
};
