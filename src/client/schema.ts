// Made from the OpenAPI document by `node scripts/client-schema.ts`; a test compares them. Not for editing.

/** Any JSON. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

export type Accepted = {
  job_id: string;
  message_id: string | null;
  context_id: string;
  /** Of the job: `queued`, unless the input joined an unfinished job (`steer`) or answered its question. */
  status: 'queued' | 'running' | 'waiting';
  stream_url: string;
};

export type AcceptedOnBranch = {
  job_id: string;
  message_id: string | null;
  context_id: string;
  /** Of the job: `queued`, unless the input joined an unfinished job (`steer`) or answered its question. */
  status: 'queued' | 'running' | 'waiting';
  stream_url: string;
  /** Made for it, and the active one now. */
  branch: string;
};

/** A call is not run before somebody approves it. `ApprovalResolved` follows, or, where its job ends first, only `ToolCallFinished`. */
export type ApprovalRequestedEvent = {
  context_id: string;
  tool_call_id: string;
  name: string;
  job_id: string;
  input: Json;
  expires_at: string | null;
};

/** `input`: what the call is run with instead of what the model asked; null: as asked. */
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
};

export type ApprovalRule = {
  /** The name of a tool; `*` stands for any text. */
  tool: string;
  /** never: it is run. always: a person is asked first. deny: it is not run, and the model is told. */
  decision: 'never' | 'always' | 'deny';
};

/** Of one call (`tool_call_id`), or of `all`. */
export type ApproveCalls = {
  tool_call_id?: string;
  /** All calls of the context that wait for approval. */
  all?: true;
  decision: 'approve' | 'deny';
  reason?: string | null;
  /** From now on this holds of the tool in this context: a rule in its config, and the other calls of it that wait. */
  remember?: boolean;
  /** What the call is run with instead of what the model asked: checked by the schema of its tool. */
  input?: { [key: string]: Json } | null;
};

export type BeginSession = {
  /** One of NIGHTSHIFT_API_KEYS. */
  key: string;
};

/** A tool call that had begun: what it did is not undone. */
export type BegunCall = {
  tool_call_id: string;
  name: string;
  effect: 'none' | 'idempotent' | 'once';
  status: 'pending' | 'started' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'denied' | 'expired' | 'unknown';
};

export type Branch = {
  name: string;
  /** Inputs that name no branch go to it. */
  active: boolean;
  parent: string | null;
  fork_message_id: string | null;
  fork_seq: number | null;
  length: number | null;
  /** Messages of its own that it shows, by the jobs that ended on it. */
  message_count: number;
  /** Model calls that were answered on it, likewise. */
  request_count: number;
  usage: Usage;
  /** ISO 8601. */
  created_at: string;
};

/** It shares what its parent shows up to that number. */
export type BranchCreatedEvent = {
  context_id: string;
  branch: string;
  parent: string;
  fork_seq: number;
};

export type BranchDeletedEvent = {
  context_id: string;
  branch: string;
};

export type BranchList = {
  data: Branch[];
  next_cursor: string | null;
};

/** Inputs that name no branch go to it from now on. */
export type BranchSwitchedEvent = {
  context_id: string;
  branch: string;
};

/** One time that a call waited for somebody, or for a moment. */
export type CallWait = {
  /** approval: a decision. answer: what a person says. client: what a client brings. outcome: a person who says what became of it. workers: the end of their jobs. timer: a moment. */
  for: 'approval' | 'answer' | 'outcome' | 'workers' | 'timer' | 'client';
  /** ISO 8601. */
  asked_at: string;
  expires_at: string | null;
  ended_at: string | null;
};

export type CancelJob = {
  /** Answers when the job ends, and after so many milliseconds at the latest. */
  wait_ms?: number;
  reason?: string | null;
};

/** At least one of context_id, worker_id, role, status, kind, metadata; a job must meet all that are given. */
export type CancelJobs = {
  context_id?: string;
  /** With all workers below it. */
  worker_id?: string;
  role?: string;
  status?: 'queued' | 'running' | 'waiting';
  kind?: 'input' | 'retry' | 'compact';
  /** Must be contained in that of the job. */
  metadata?: { [key: string]: Json };
  reason?: string;
};

/** How many unfinished jobs were told to stop by this request. */
export type Cancelled = {
  count: number;
};

export type Chat = {
  message: string | InputBlock[];
  /** From the first answer: the session's context. Without it a session begins. */
  session_id?: string;
};

export type ChatAccepted = {
  session_id: string;
  job_id: string;
  stream_url: string;
};

/** The job that a call gave to a worker below. */
export type ChildJob = {
  job_id: string;
  context_id: string;
  worker_id: string;
  /** Of the worker. */
  name: string;
  status: 'queued' | 'running' | 'waiting' | 'completed' | 'incomplete' | 'failed' | 'cancelled' | 'interrupted';
  usage: Usage;
  /** ISO 8601. */
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
};

/** A tool that the client runs: a call of it waits for the result that the client brings. */
export type ClientTool = {
  name: string;
  description: string;
  /** A JSON Schema (draft 2020-12 or 7) of an object. */
  input_schema: {
    type: 'object';
    [key: string]: Json;
  };
};

export type CompactAccepted = {
  job_id: string;
};

/** What is not given is as the worker is set. */
export type CompactContext = {
  type?: 'threshold' | 'llm';
  /** The last turns that stay whole; with 0 only the last answer does. */
  keep_turns?: number;
  /** provider/model that summarises. */
  model?: string;
};

/** How prompts are kept within context_limit. */
export type Compaction = {
  /** threshold (the default): old results of tools are shown by their summaries. llm: a model summarises old turns. none: a prompt that is too long fails its job. */
  type?: 'threshold' | 'llm' | 'none';
  /** Share of context_limit: 0.8. */
  threshold?: number;
  /** The last turns that stay whole; with 0 only the last answer does. 4. */
  keep_turns?: number;
  /** provider/model that summarises. */
  model?: string;
};

/** Given members replace those that stand; null takes one back. */
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
  parameters?: { [key: string]: Json } | null;
  idle_timeout_s?: number | null;
  limits?: WorkerLimits | null;
};

export type ContentBlock = TextBlock | ThinkingBlock | ToolUseBlock | ToolResultBlock | ImageBlock | DocumentBlock;

/** Without an id. */
export type ContentDeltaEvent = {
  context_id: string;
  message_id: string;
  /** A higher one voids the text of the lower. */
  attempt: number;
  delta: string;
  /** Counts from 0 in each attempt. */
  sequence: number;
};

/** Without an id. */
export type ContentSnapshotEvent = {
  context_id: string;
  message_id: string;
  /** A higher one voids the text of the lower. */
  attempt: number;
  /** All of it so far: takes the place of what was heard before. */
  text: string;
  /** Deltas with a higher one follow. */
  sequence: number;
};

export type Context = {
  id: string;
  worker_id: string;
  worker_name: string;
  role: string | null;
  last_message: LastMessage | null;
  parent_id: string | null;
  title: string | null;
  config: WorkerConfig;
  state: 'Idle' | 'ProcessingUserMessage' | 'AwaitingLLMResponse' | 'StreamingLLMResponse' | 'ProcessingLLMResponse' | 'AwaitingToolApproval' | 'AwaitingInput' | 'AwaitingWorkers' | 'ExecutingTools' | 'TransientFailure' | 'PermanentFailure' | 'Stopped';
  active_branch: string;
  branches: string[];
  /** On all branches; what they share counts once. */
  message_count: number;
  /** Of the active branch. */
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

/** History begins anew: what was told before has left it, and turns count from 1. */
export type ContextClearedEvent = {
  context_id: string;
};

/** The prompt shows something shorter from here on. */
export type ContextCompactedEvent = {
  context_id: string;
  compaction_id: string;
  branch: string;
  type: 'threshold' | 'llm';
  /** The last message that it stands for. */
  upto_seq: number;
  tokens_before: number;
  tokens_after: number;
  job_id: string;
  model: string | null;
  usage: {
    /** Without those that caches served. */
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
};

export type ContextCompaction = {
  id: string;
  context_id: string;
  branch: string;
  /** That of its event. */
  seq: number;
  /** The last message that it stands for. */
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

export type ContextCompactionList = {
  data: ContextCompaction[];
  next_cursor: string | null;
};

/** All that was ever history, in order, by numbers without gaps. */
export type ContextExport = {
  format: 'nightshift.context';
  version: 1;
  context: ExportedContext;
  entries: ExportedEntry[];
  branches: ExportedBranch[];
};

/** All before it came with an import. `kept`: what its source said that has no place here. */
export type ContextImportedEvent = {
  context_id: string;
  format: 'nightshift.context' | 'paired' | 'folder';
  kept: { [key: string]: Json } | null;
};

export type ContextList = {
  data: Context[];
  next_cursor: string | null;
};

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

export type CreateBranch = {
  /** Letters, digits, dots, dashes and underscores; begins with a letter or a digit. */
  name: string;
  /** Without it: the active branch. */
  from_branch?: string;
  /** The last message that is shared, with the results of its tool calls. Else all that is complete: what an unfinished job added is not. */
  from_message_id?: string;
  activate?: boolean;
};

export type CreateContext = {
  title?: string | null;
  worker?: {
    name?: string;
    role?: string | null;
  };
  name?: string;
  role?: string | null;
  config?: WorkerConfig;
  parent_worker_id?: string | null;
};

export type CreateWorker = {
  name: string;
  role?: string | null;
  config?: WorkerConfig;
  parent_worker_id?: string | null;
};

export type DocumentBlock = {
  type: 'document';
  source: Source;
  title?: string;
};

export type DocumentData = {
  type: 'base64';
  media_type: string;
  data: string;
};

export type DocumentInput = {
  type: 'document';
  source: DocumentSource;
  title?: string;
};

export type DocumentSource = DocumentData | UrlSource;

export type EditMessage = {
  content: string | InputBlock[];
  /** Letters, digits, dots, dashes and underscores; begins with a letter or a digit. */
  name?: string;
  /** What becomes of a job that is unfinished, as with a message. */
  delivery?: 'queue' | 'interrupt' | 'reject';
  /** 1 goes first. */
  priority?: number;
  metadata?: { [key: string]: Json };
  max_steps?: number;
  /** ISO 8601. */
  deadline?: string;
};

/** Reads the entries of each `branch` with `after < number <= upto`; without spans all under its own name. */
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
    /** US dollars, at the prices of the moment of each call; not there: no price was known. */
    cost?: string;
  };
  /** ISO 8601. */
  created_at: string;
};

export type ExportedCompaction = {
  type: 'compaction';
  number: number;
  branch: string;
  compactor: 'threshold' | 'llm';
  /** The last entry that it stands for. */
  upto: number;
  summary: string | null;
  model: string | null;
  tokens_before: number;
  tokens_after: number;
  /** ISO 8601. */
  created_at: string;
};

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
    /** US dollars, at the prices of the moment of each call; not there: no price was known. */
    cost?: string;
  };
  /** ISO 8601. */
  created_at: string;
};

export type ExportedEntry = ExportedMessage | ExportedCompaction;

export type ExportedMessage = {
  type: 'message';
  number: number;
  branch: string;
  role: 'user' | 'assistant' | 'system' | 'tool';
  message_type: 'text' | 'plan' | 'question' | 'tool_call' | 'tool_result';
  turn: string;
  status: 'completed' | 'retracted';
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
      /** US dollars, at the prices of the moment of each call; not there: no price was known. */
      cost?: string;
    };
    attempt: number | null;
    called_at: string | null;
    first_byte_at: string | null;
  } | null;
};

export type FolderImport = {
  /** The parsed files by their names: metadata.json, message_index.json, messages/<id>.json. */
  files: { [key: string]: Json };
};

export type ForkContext = {
  /** The last message that is copied, with the results of its tool calls, of whichever branch shows it. Else all of the active branch that is complete: what an unfinished job added is not. */
  from_message_id?: string;
  title?: string | null;
};

export type Health = {
  status: 'ok';
};

/** Without an id. */
export type HeartbeatEvent = {
  /** ISO 8601. */
  timestamp: string;
};

export type ImageBlock = {
  type: 'image';
  source: Source;
};

export type ImageData = {
  type: 'base64';
  media_type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  data: string;
};

export type ImageInput = {
  type: 'image';
  source: ImageSource;
};

export type ImageSource = ImageData | UrlSource;

export type ImportContext = ContextExport | PairedImport | FolderImport;

export type Inbox = {
  data: InboxItem[];
  next_cursor: string | null;
};

export type InboxItem = {
  /** approval: whether a call is run. input: an answer to a question, or what a client makes of a call. unknown_outcome: what became of a call. */
  kind: 'approval' | 'input' | 'unknown_outcome';
  context_id: string;
  worker_id: string;
  job_id: string;
  tool_call_id: string;
  name: string;
  input: Json;
  /** ISO 8601. */
  requested_at: string;
  expires_at: string | null;
};

export type InputBlock = TextInput | ImageInput | DocumentInput;

/** A call waits for its result from outside: the answer to a question, or what a client made of `input`. */
export type InputRequestedEvent = {
  context_id: string;
  tool_call_id: string;
  name: string;
  job_id: string;
  question: string | null;
  choices: string[] | null;
  input: Json;
};

export type Interrupt = {
  /** What becomes of what the job added. discard (the default): its side is taken back, the inputs stay. rollback: the inputs too. keep: what was finished stays. */
  mode?: 'discard' | 'rollback' | 'keep';
  /** Answers when the job ended, and after so many milliseconds at the latest. */
  wait_ms?: number;
};

/** What became of it so far. Of an idle context everything is null or empty. */
export type Interruption = {
  job_id: string | null;
  status: 'queued' | 'running' | 'waiting' | 'completed' | 'incomplete' | 'failed' | 'cancelled' | 'interrupted' | null;
  removed_messages: string[];
  effects: BegunCall[];
  requested_at: string | null;
  stopped_at: string | null;
};

export type Job = {
  id: string;
  kind: 'input' | 'retry' | 'compact';
  context_id: string;
  worker_id: string;
  branch: string;
  status: 'queued' | 'running' | 'waiting' | 'completed' | 'incomplete' | 'failed' | 'cancelled' | 'interrupted';
  attempt: number;
  retry_at: string | null;
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

/** What was asked; and of the prompt, how long it was and is. Both null: nothing was compacted. */
export type JobCompaction = {
  type: 'threshold' | 'llm' | null;
  keep_turns: number | null;
  model: string | null;
  tokens_before: number | null;
  tokens_after: number | null;
};

export type JobFailure = {
  code: 'empty_context' | 'nothing_to_answer' | 'provider_auth' | 'provider_refused' | 'provider_overloaded' | 'provider_rate_limited' | 'provider_bad_request' | 'prompt_too_long' | 'provider_unreachable' | 'stream_interrupted' | 'crash_loop' | 'max_steps' | 'deadline' | 'internal';
  message: string;
};

/** Nothing more of the job follows. */
export type JobFinishedEvent = {
  context_id: string;
  job_id: string;
  status: 'queued' | 'running' | 'waiting' | 'completed' | 'incomplete' | 'failed' | 'cancelled' | 'interrupted';
  attempt: number;
};

export type JobList = {
  data: Job[];
  next_cursor: string | null;
};

export type JobOutput = {
  message_id: string;
  text: string;
};

export type JobStartedEvent = {
  context_id: string;
  job_id: string;
  status: 'queued' | 'running' | 'waiting' | 'completed' | 'incomplete' | 'failed' | 'cancelled' | 'interrupted';
  attempt: number;
};

export type JobStep = {
  kind: 'model' | 'tool' | 'wait' | 'compact';
  /** Of a model provider/model; of a wait what for: retry; of a compaction its type. */
  name: string;
  /** running and waiting: under way now. pending and started: nobody runs it now. */
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
  message_id: string | null;
  tool_call_id: string | null;
  executions: ToolExecution[] | null;
  tokens_before: number | null;
  tokens_after: number | null;
  approval: {
    decision: 'approve' | 'deny';
    reason: string | null;
    input: Json;
    /** ISO 8601. */
    decided_at: string;
  } | null;
  waits: CallWait[] | null;
  child: ChildJob | null;
};

export type JobStepList = {
  data: JobStep[];
  next_cursor: string | null;
};

/** What was last said on the active branch; results of tools and calls of them are passed over. */
export type LastMessage = {
  id: string;
  role: 'user' | 'assistant';
  /** Its beginning; empty where it holds no text, or where the message is larger than 64 KB. */
  text: string;
  /** ISO 8601. */
  created_at: string;
};

export type McpServerInfo = {
  name: string;
  /** up: in one worker process at least. */
  state: 'up' | 'down' | 'unknown';
  tools: ToolInfo[] | null;
};

export type Message = {
  id: string;
  context_id: string;
  branch: string;
  seq: number | null;
  turn: string | null;
  role: 'user' | 'assistant' | 'system' | 'tool';
  type: 'text' | 'plan' | 'question' | 'tool_call' | 'tool_result';
  status: 'queued' | 'completed' | 'retracted';
  /** The prompt shows a summary in its place. */
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
};

/** A message entered history, inputs and results too. */
export type MessageCompletedEvent = {
  context_id: string;
  message_id: string;
  seq: number;
  turn: string;
  role: 'user' | 'assistant' | 'system' | 'tool';
  type: 'text' | 'plan' | 'question' | 'tool_call' | 'tool_result';
};

export type MessageList = {
  data: Message[];
  next_cursor: string | null;
};

/** They left history with an interrupt. */
export type MessagesRetractedEvent = {
  context_id: string;
  message_ids: string[];
  turn: string;
  mode: 'discard' | 'rollback' | 'keep';
};

export type ModelPrice = {
  /** `provider/model` */
  model: string;
  /** US dollars for a million tokens, decimal. */
  input: string;
  /** US dollars for a million tokens, decimal. */
  output: string;
  /** US dollars for a million tokens, decimal. */
  cache_read: string;
  /** US dollars for a million tokens, decimal. */
  cache_write: string;
};

/** Somebody said what became of it. */
export type OutcomeResolvedEvent = {
  context_id: string;
  tool_call_id: string;
  name: string;
  job_id: string;
  outcome: 'happened' | 'did_not_happen' | 'tell';
};

/** A call was begun and nobody saw it end: it waits for a person who says what became of it. */
export type OutcomeUnknownEvent = {
  context_id: string;
  tool_call_id: string;
  name: string;
  job_id: string;
  input: Json;
  until: string | null;
};

/** What one side said, or both. */
export type Pair = {
  user?: string;
  assistant?: string;
};

export type PairedExport = {
  title?: string | null;
  entries: Pair[];
};

export type PairedImport = {
  title?: string | null;
  worker?: {
    name?: string;
    role?: string | null;
  };
  config?: WorkerConfig;
  entries: Pair[];
};

export type PatchContext = {
  title?: string | null;
  config?: ConfigPatch;
};

export type PatchMessage = {
  content?: string | InputBlock[];
  /** Its place in the queue: 1 is next, beyond the end is the end. */
  position?: number;
};

export type PatchWorker = {
  name?: string;
  role?: string | null;
  config?: ConfigPatch;
};

/** Stands behind the system prompt in every prompt. */
export type PinnedText = {
  title: string;
  text: string;
};

export type PostJob = {
  /** Without it: the active branch. */
  branch?: string;
  /** 1 goes first. */
  priority?: number;
  metadata?: { [key: string]: Json };
  max_steps?: number;
  /** ISO 8601. */
  deadline?: string;
};

export type PostMessage = {
  content: string | InputBlock[];
  /** While a question waits, queue (with the default priority) answers the oldest one, and the job is that of the question. While a job is unfinished: wait for one's turn; join the running job at its next step (metadata, priority, max_steps and deadline then stay those of that job); take its place; or be refused. */
  delivery?: 'queue' | 'steer' | 'interrupt' | 'reject';
  /** Without it: the active branch. */
  branch?: string;
  /** 1 goes first. */
  priority?: number;
  metadata?: { [key: string]: Json };
  max_steps?: number;
  /** ISO 8601. */
  deadline?: string;
};

export type PostResult = {
  content: string | ResultInput[];
  /** The model is told that the call failed. */
  is_error?: boolean;
};

/** Where the prompt ceased to begin as that of the call before it, so that the cache of the provider misses from there on. Null: it begins alike, or nothing is known of the call before. */
export type PrefixPart = 'model' | 'tools' | 'system' | 'messages';

export type Problem = {
  type: string;
  title: string;
  status: number;
  detail: string;
  error: {
    type: string;
    code: 'not_found' | 'invalid_request' | 'unsupported' | 'unknown_model' | 'unknown_tool' | 'unknown_role' | 'unauthorized' | 'forbidden' | 'payload_too_large' | 'version_conflict' | 'idempotency_conflict' | 'context_busy' | 'worker_stopped' | 'not_queued' | 'not_waiting' | 'branch_exists' | 'worker_limit' | 'queue_full' | 'rate_limited' | 'unavailable' | 'internal';
    message: string;
    param: string | null;
  };
};

export type ProviderStatus = {
  name: string;
  /** What calls it needs, such as a key, is set. */
  configured: boolean;
  answered_at: string | null;
  failed_at: string | null;
  throttled_until: string | null;
  throttle_reason: string | null;
};

export type PutContext = {
  title?: string | null;
  config?: WorkerConfig;
};

/** Milliseconds. */
export type Quantiles = {
  p50: number;
  p95: number;
};

export type Readiness = {
  /** `degraded`: the queue is away; work is found by sweeps, a little later. */
  status: 'ok' | 'degraded';
  postgres: 'ok';
  queue: 'ok' | 'away';
};

/** What became of the wish so far. */
export type Receipt = {
  job_id: string;
  status: 'queued' | 'running' | 'waiting' | 'completed' | 'incomplete' | 'failed' | 'cancelled' | 'interrupted';
  requested_at: string | null;
  delivered_at: string | null;
  stopped_at: string | null;
};

export type Regenerate = {
  /** Letters, digits, dots, dashes and underscores; begins with a letter or a digit. */
  name?: string;
  /** What becomes of a job that is unfinished, as with a message. */
  delivery?: 'queue' | 'interrupt' | 'reject';
  /** 1 goes first. */
  priority?: number;
  metadata?: { [key: string]: Json };
  max_steps?: number;
  /** ISO 8601. */
  deadline?: string;
};

export type ResolveToolCall = {
  /** happened: `result` becomes the result of the call. did_not_happen: it is run anew. tell: nobody knows, and the model is told so. */
  outcome: 'happened' | 'did_not_happen' | 'tell';
  /** Only of what happened; without it the model is told that it did, and no more. */
  result?: string | ResultInput[];
};

export type Resolved = {
  resolved: string[];
};

export type ResultInput = TextInput | ImageInput;

export type ResultPart = TextBlock | ImageBlock;

export type Role = {
  name: string;
  version: number | null;
  /** `file`: of the config file, and read-only; what of it this process does not know is left out. */
  source: 'api' | 'file';
  /** provider/model */
  model?: string;
  streaming?: boolean;
  system_prompt?: string;
  /** plan: only tools without effect are offered, and answers are of type plan. */
  mode?: 'act' | 'plan';
  tools?: string[];
  client_tools?: ClientTool[];
  /** Names of MCP servers of the config file: all the tools that they offer. */
  mcp_servers?: string[];
  /** Before which tools a person is asked: the first rule that names a tool holds; then those of the role; then what the tool says itself. `deny` holds wherever it stands. */
  approval?: ApprovalRule[];
  max_tokens?: number;
  /** Tokens of a prompt. Where nobody says it: 200000 with anthropic, 128000 with openai and openai-chat, 1000000 with simulated. */
  context_limit?: number;
  compaction?: Compaction;
  pinned?: PinnedText[];
  max_steps?: number;
  /** Passed to the provider as they are, where it may be given them (see docs/providers.md). Reserved: model, messages, input, stream, tools, n, store, background. */
  parameters?: { [key: string]: Json };
  /** Seconds after which its context is archived, where nothing happens in it. Not given: never. */
  idle_timeout_s?: number;
  limits?: WorkerLimits;
  created_at: string | null;
  updated_at: string | null;
};

/** What is not given falls to the defaults, for workers whose config does not say it. At most 64 KB of JSON. */
export type RoleDefinition = {
  /** provider/model */
  model?: string;
  streaming?: boolean;
  system_prompt?: string;
  /** plan: only tools without effect are offered, and answers are of type plan. */
  mode?: 'act' | 'plan';
  tools?: string[];
  client_tools?: ClientTool[];
  /** Names of MCP servers of the config file: all the tools that they offer. */
  mcp_servers?: string[];
  /** Before which tools a person is asked: the first rule that names a tool holds; then those of the role; then what the tool says itself. `deny` holds wherever it stands. */
  approval?: ApprovalRule[];
  max_tokens?: number;
  /** Tokens of a prompt. Where nobody says it: 200000 with anthropic, 128000 with openai and openai-chat, 1000000 with simulated. */
  context_limit?: number;
  compaction?: Compaction;
  pinned?: PinnedText[];
  max_steps?: number;
  /** Passed to the provider as they are, where it may be given them (see docs/providers.md). Reserved: model, messages, input, stream, tools, n, store, background. */
  parameters?: { [key: string]: Json };
  /** Seconds after which its context is archived, where nothing happens in it. Not given: never. */
  idle_timeout_s?: number;
  limits?: WorkerLimits;
};

export type RoleList = {
  data: Role[];
  next_cursor: string | null;
};

export type SearchResult = {
  context_id: string;
  message_id: string;
  turn: string;
  role: 'user' | 'assistant';
  /** Plain text of the message around what was met, which stands between `**`; nothing in it is escaped for HTML. */
  snippet: string;
  /** Higher is better. Comparable within one search only. */
  rank: number;
  /** ISO 8601. */
  created_at: string;
};

export type SearchResultList = {
  data: SearchResult[];
  next_cursor: string | null;
};

/** The request of one model call. `prefix` is null where nothing is known of a request before. */
export type SentPrompt = {
  job_id: string;
  n: number;
  message_id: string | null;
  attempt: number;
  /** provider/model */
  model: string;
  /** The system prompt. */
  system: string;
  /** The pinned texts, right behind it. */
  pinned: string;
  tools: SentTool[] | null;
  messages: ({
    role: 'user' | 'assistant';
    content: { [key: string]: Json }[];
  })[] | null;
  max_tokens: number | null;
  streaming: boolean;
  parameters: { [key: string]: Json };
  /** Whether all of it is what was sent, checked by hashes stored with the call. */
  exact: boolean;
  /** What was sent otherwise: settings that were changed since, or what an interrupt took back since. */
  differs: ('tools' | 'system' | 'messages' | 'parameters')[];
  prefix: {
    lost_at: PrefixPart | null;
    message: number | null;
  } | null;
};

export type SentTool = {
  name: string;
  description: string;
  input_schema: { [key: string]: Json };
};

export type Session = {
  /** `none`: no keys are set here, and nobody needs to sign in. */
  auth: 'none' | 'key';
  /** By a key or a cookie; where none is needed, always. */
  signed_in: boolean;
  tenant: string | null;
};

export type Sibling = {
  /** One that shows it: the active one, where that does. */
  branch: string;
  /** The first message of the turn that stands there. */
  message_id: string;
  turn: string;
  /** ISO 8601. */
  created_at: string;
  /** Whether the active branch shows it. */
  active: boolean;
};

export type SiblingList = {
  data: Sibling[];
};

export type Source = {
  type: 'base64';
  media_type: string;
  data: string;
} | {
  type: 'url';
  url: string;
};

/** Without an id where the state is fleeting. */
export type StateChangedEvent = {
  context_id: string;
  new_state: 'Idle' | 'ProcessingUserMessage' | 'AwaitingLLMResponse' | 'StreamingLLMResponse' | 'ProcessingLLMResponse' | 'AwaitingToolApproval' | 'AwaitingInput' | 'AwaitingWorkers' | 'ExecutingTools' | 'TransientFailure' | 'PermanentFailure' | 'Stopped';
  job_id: string | null;
};

export type Stats = {
  /** Queued jobs. */
  queue_depth: number;
  /** Jobs that run. */
  running: number;
  /** Jobs that wait for something. */
  waiting: number;
  /** Contexts by state; states without one are left out. */
  by_state: { [key: string]: number };
};

/** Of the jobs that ended in it. Times null: there were none. */
export type StatsBucket = {
  /** Its beginning. */
  at: string;
  finished: {
    completed: number;
    incomplete: number;
    failed: number;
    cancelled: number;
    interrupted: number;
  };
  /** Model calls of those jobs. */
  steps: number;
  usage: Usage;
  start_ms: Quantiles | null;
  first_token_ms: Quantiles | null;
  model_ms: Quantiles | null;
};

/** Counts and tokens are exact; first_token_ms and model_ms are of a sample of the last jobs of each bucket. */
export type StatsHistory = {
  /** ISO 8601. */
  from: string;
  /** ISO 8601. */
  to: string;
  bucket_s: number;
  data: StatsBucket[];
};

export type StoredBlock = StoredText | StoredThinking | StoredToolUse | StoredToolResult | StoredImage | StoredDocument;

export type StoredDocument = {
  type: 'document';
  source: Source;
  title?: string;
};

export type StoredImage = {
  type: 'image';
  source: Source;
};

export type StoredResultPart = StoredText | StoredImage;

export type StoredText = {
  type: 'text';
  text: string;
  provider?: {
    name: string;
    data: Json;
    model?: string;
  };
};

export type StoredThinking = {
  type: 'thinking';
  text: string;
  provider?: {
    name: string;
    data: Json;
    model?: string;
  };
};

export type StoredToolResult = {
  type: 'tool_result';
  tool_use_id: string;
  content: string | StoredResultPart[];
  is_error: boolean;
  compact_summary?: string;
};

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

export type System = {
  version: string;
  /** laptop: one process is everything. */
  mode: 'laptop' | 'production';
  default_model: string;
  providers: ProviderStatus[];
  /** Of the config file; what another model costs is not known. */
  prices: ModelPrice[];
  tools: ToolInfo[];
  mcp_servers: McpServerInfo[];
  limits: SystemLimits;
  processes: WorkerProcessInfo[] | null;
};

/** By the names of the config file; null: there is none. */
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

export type TextBlock = {
  type: 'text';
  text: string;
};

export type TextInput = {
  type: 'text';
  text: string;
};

export type ThinkingBlock = {
  type: 'thinking';
  text: string;
};

/** Without an id. */
export type ThinkingDeltaEvent = {
  context_id: string;
  message_id: string;
  /** A higher one voids the text of the lower. */
  attempt: number;
  delta: string;
  /** Counts from 0 in each attempt. */
  sequence: number;
};

export type ToolCall = {
  id: string;
  context_id: string;
  job_id: string;
  /** The answer that asks for it. */
  message_id: string;
  name: string;
  /** As the model asked. */
  input: Json;
  /** What it is run with: the same, unless it was approved with another. */
  run_input: Json;
  effect: 'none' | 'idempotent' | 'once';
  on_unknown: 'tell' | 'ask';
  status: 'pending' | 'started' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'denied' | 'expired' | 'unknown';
  waits_for: 'approval' | 'answer' | 'outcome' | 'workers' | 'timer' | null;
  waits_since: string | null;
  waits_until: string | null;
  approval: ToolCallApproval | null;
  executions: ToolExecution[];
  result_message_id: string | null;
  /** ISO 8601. */
  created_at: string;
  finished_at: string | null;
};

/** `input`: what it is run with in place of what was asked, or null. */
export type ToolCallApproval = {
  decision: 'approve' | 'deny';
  reason: string | null;
  input: Json;
  /** ISO 8601. */
  at: string;
};

export type ToolCallFinishedEvent = {
  context_id: string;
  tool_call_id: string;
  name: string;
  status: 'pending' | 'started' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'denied' | 'expired' | 'unknown';
};

export type ToolCallStartedEvent = {
  context_id: string;
  tool_call_id: string;
  name: string;
  status: 'pending' | 'started' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'denied' | 'expired' | 'unknown';
};

/** One time that a call was run. A call without effect, or an idempotent one, that a crash cut off leaves none: it ran again. */
export type ToolExecution = {
  number: number;
  /** Of the lease under which it ran. */
  epoch: number;
  /** What the tool was given: the same each time. */
  idempotency_key: string;
  /** ISO 8601. */
  began_at: string;
  ended_at: string | null;
  outcome: 'completed' | 'failed' | 'cancelled' | 'unknown' | 'did_not_happen' | null;
};

export type ToolInfo = {
  name: string;
  /** own: of the config file. elsewhere: a worker process serves it that this process knows no more of. */
  source: 'own' | 'built_in' | 'mcp' | 'elsewhere';
  description: string | null;
  effect: 'none' | 'idempotent' | 'once' | null;
  approval: 'never' | 'always' | 'deny' | 'by_call' | null;
  /** A worker process that lives has it. */
  served: boolean;
};

export type ToolResultBlock = {
  type: 'tool_result';
  tool_use_id: string;
  content: string | ResultPart[];
  is_error: boolean;
  compact_summary?: string;
};

export type ToolUseBlock = {
  type: 'tool_use';
  id: string;
  name: string;
  input: Json;
};

export type Turn = {
  /** Of `u1` and `a1`: 1. */
  number: number;
  input_message_ids: string[];
  /** All that answers the input, in order: what the model said, results of tools, notes. */
  answer_message_ids: string[];
  tool_calls: TurnCall[];
  job: {
    id: string;
    status: 'queued' | 'running' | 'waiting' | 'completed' | 'incomplete' | 'failed' | 'cancelled' | 'interrupted';
  } | null;
};

export type TurnCall = {
  id: string;
  name: string;
  status: 'pending' | 'started' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'denied' | 'expired' | 'unknown';
  /** The message that asks for it. */
  message_id: string;
  result_message_id: string | null;
};

export type TurnList = {
  data: Turn[];
  next_cursor: string | null;
};

export type UrlSource = {
  type: 'url';
  url: string;
};

export type Usage = {
  /** Without those that caches served. */
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  cache_hit_ratio: number | null;
  cost: string | null;
};

/** What must come before it goes on. */
export type WaitingFor = {
  /** input: a call is answered from outside. approval: a person has a say in a call: whether it runs, or what became of it. worker: it waits for that worker. timer: nothing happens before `until`; of a call that sleeps, with its name and id. With worker_id, all but worker: that worker waits for it. */
  kind: 'approval' | 'input' | 'worker' | 'timer';
  tool_call_id?: string;
  /** Of the tool. */
  name?: string;
  worker_id?: string;
  /** ISO 8601. */
  until?: string;
};

export type Worker = {
  id: string;
  name: string;
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

/** What is not given comes from the role, then from the defaults. At most 64 KB of JSON. */
export type WorkerConfig = {
  /** provider/model */
  model?: string;
  streaming?: boolean;
  system_prompt?: string;
  /** plan: only tools without effect are offered, and answers are of type plan. */
  mode?: 'act' | 'plan';
  tools?: string[];
  client_tools?: ClientTool[];
  /** Names of MCP servers of the config file: all the tools that they offer. */
  mcp_servers?: string[];
  /** Before which tools a person is asked: the first rule that names a tool holds; then those of the role; then what the tool says itself. `deny` holds wherever it stands. */
  approval?: ApprovalRule[];
  max_tokens?: number;
  /** Tokens of a prompt. Where nobody says it: 200000 with anthropic, 128000 with openai and openai-chat, 1000000 with simulated. */
  context_limit?: number;
  compaction?: Compaction;
  pinned?: PinnedText[];
  max_steps?: number;
  /** Passed to the provider as they are, where it may be given them (see docs/providers.md). Reserved: model, messages, input, stream, tools, n, store, background. */
  parameters?: { [key: string]: Json };
  /** Seconds after which its context is archived, where nothing happens in it. Not given: never. */
  idle_timeout_s?: number;
  limits?: WorkerLimits;
};

export type WorkerFailure = {
  code: 'empty_context' | 'nothing_to_answer' | 'provider_auth' | 'provider_refused' | 'provider_overloaded' | 'provider_rate_limited' | 'provider_bad_request' | 'prompt_too_long' | 'provider_unreachable' | 'stream_interrupted' | 'crash_loop' | 'max_steps' | 'deadline' | 'internal';
  message: string;
  job_id: string;
  /** ISO 8601. */
  at: string;
};

/** For workers below it: how deep they may be (0 has no parent), how many children each may have, and how many of the tree may be at work at once. The narrowest of what the operator, the role and the config say holds. */
export type WorkerLimits = {
  depth?: number;
  children?: number;
  workers?: number;
};

export type WorkerList = {
  data: Worker[];
  next_cursor: string | null;
};

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

/** The worker `name` was made by a call, and given a job. */
export type WorkerSpawnedEvent = {
  context_id: string;
  tool_call_id: string;
  name: string;
  worker_id: string;
  job_id: string;
};

export type WorkerTree = {
  id: string;
  name: string;
  context_id: string;
  depth: number;
  /** It goes on when the one above is stopped or removed. */
  detached: boolean;
  state: 'inactive' | 'working' | 'waiting' | 'failed' | 'stopped';
  job: WorkerTreeJob | null;
  usage: Usage;
  children: WorkerTreeNode[];
  /** There are more: those furthest below are left out. */
  truncated: boolean;
};

/** The unfinished one, else the last. */
export type WorkerTreeJob = {
  id: string;
  status: 'queued' | 'running' | 'waiting' | 'completed' | 'incomplete' | 'failed' | 'cancelled' | 'interrupted';
  started_at: string | null;
  finished_at: string | null;
};

export type WorkerTreeNode = {
  id: string;
  name: string;
  context_id: string;
  depth: number;
  /** It goes on when the one above is stopped or removed. */
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
  MessagesRetracted: MessagesRetractedEvent;
  OutcomeResolved: OutcomeResolvedEvent;
  OutcomeUnknown: OutcomeUnknownEvent;
  StateChanged: StateChangedEvent;
  ThinkingDelta: ThinkingDeltaEvent;
  ToolCallFinished: ToolCallFinishedEvent;
  ToolCallStarted: ToolCallStartedEvent;
  WorkerSpawned: WorkerSpawnedEvent;
};

export const EVENT_NAMES = [
  'ApprovalRequested',
  'ApprovalResolved',
  'BranchCreated',
  'BranchDeleted',
  'BranchSwitched',
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
  'MessagesRetracted',
  'OutcomeResolved',
  'OutcomeUnknown',
  'StateChanged',
  'ThinkingDelta',
  'ToolCallFinished',
  'ToolCallStarted',
  'WorkerSpawned',
] as const satisfies (keyof EventData)[];

/** What each operation takes and answers. */
export type Operations = {
  'POST /api/workers': {
    path: undefined;
    query: undefined;
    body: CreateWorker;
    answer: Worker;
  };
  'GET /api/workers': {
    path: undefined;
    query: { limit?: number; cursor?: string; parent_worker_id?: string; role?: string; state?: 'inactive' | 'working' | 'waiting' | 'failed' | 'stopped'; archived?: boolean };
    body: undefined;
    answer: WorkerList;
  };
  'GET /api/workers/{id}': {
    path: { id: string };
    query: undefined;
    body: undefined;
    answer: Worker;
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
    query: { limit?: number; cursor?: string; state?: 'Idle' | 'ProcessingUserMessage' | 'AwaitingLLMResponse' | 'StreamingLLMResponse' | 'ProcessingLLMResponse' | 'AwaitingToolApproval' | 'AwaitingInput' | 'AwaitingWorkers' | 'ExecutingTools' | 'TransientFailure' | 'PermanentFailure' | 'Stopped' | ('Idle' | 'ProcessingUserMessage' | 'AwaitingLLMResponse' | 'StreamingLLMResponse' | 'ProcessingLLMResponse' | 'AwaitingToolApproval' | 'AwaitingInput' | 'AwaitingWorkers' | 'ExecutingTools' | 'TransientFailure' | 'PermanentFailure' | 'Stopped')[]; role?: string; archived?: boolean; q?: string };
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
    query: { limit?: number; cursor?: string; branch?: string; turn?: string; include?: 'retracted' | 'compacted' | 'retracted,compacted' | 'compacted,retracted'; order?: 'asc' | 'desc'; from?: string };
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
    query: { limit?: number; cursor?: string; kind?: 'approval' | 'input' | 'unknown_outcome' };
    body: undefined;
    answer: Inbox;
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
  'GET /api/contexts/{id}/events': {
    path: { id: string };
    query: { after?: number };
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
    query: { limit?: number; cursor?: string; status?: 'queued' | 'running' | 'waiting' | 'completed' | 'incomplete' | 'failed' | 'cancelled' | 'interrupted' | ('queued' | 'running' | 'waiting' | 'completed' | 'incomplete' | 'failed' | 'cancelled' | 'interrupted')[]; kind?: 'input' | 'retry' | 'compact'; role?: string; metadata?: string; context_id?: string; worker_id?: string; parent_job_id?: string; created_after?: string; created_before?: string };
    body: undefined;
    answer: JobList;
  };
  'GET /api/jobs/{id}': {
    path: { id: string };
    query: { wait_ms?: number };
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
  'GET /api/roles': {
    path: undefined;
    query: { limit?: number; cursor?: string };
    body: undefined;
    answer: RoleList;
  };
  'GET /api/roles/{name}': {
    path: { name: string };
    query: { version?: number };
    body: undefined;
    answer: Role;
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
  'GET /api/contexts/{id}/export': {
    path: { id: string };
    query: { format?: 'json' | 'markdown' | 'paired' };
    body: undefined;
    answer: ContextExport | PairedExport | string;
  };
  'GET /api/search': {
    path: undefined;
    query: { q?: string; context_id?: string; worker_id?: string; role?: string; message_role?: 'user' | 'assistant'; created_after?: string; created_before?: string; limit?: number; cursor?: string };
    body: undefined;
    answer: SearchResultList;
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
  'GET /api/system': {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: System;
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
    query: undefined;
    body: ImportContext | undefined;
    answer: Context;
  };
};
