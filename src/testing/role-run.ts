/** What became of a run in memory, with the names and shapes of the API. */
import { isToolResult, isToolUse, textOf, type Block, type ResultPart } from '../core/conversation/blocks.ts';
import type { Message, MessageRole, MessageType } from '../core/conversation/message.ts';
import type { JobId, MessageId } from '../core/ids.ts';
import type { Json } from '../core/json.ts';
import { NO_USAGE, toPublicUsage, type PublicUsage } from '../core/money/usage.ts';
import type { JobOutcome, JobStatus } from '../core/run/job.ts';
import type { CallStatus } from '../core/tools/tool-call.ts';
import type { Millis } from '../core/time.ts';
import type { MemoryContext } from './memory/context.ts';
import type { MemoryDurable, StartedWork } from './memory/durable.ts';
import { lastJobOf } from './memory/outcome.ts';
import type { MemoryTree } from './memory/tree.ts';
import type { Awaited } from './memory/people.ts';
import { awaitedIn } from './memory/worker.ts';
import type { ReportedEntry, ReportedProgress, Reports } from './memory/reports.ts';

/** A message of the conversation. */
export type RunMessage = {
  /** From whom it is: `user`, `assistant` or `tool`. */
  role: MessageRole;
  /** What kind of message it is. */
  type: MessageType;
  /** The id of its turn: an input and all that follows from it. */
  turn: string;
  /** Its blocks of text, as one text. */
  text: string;
  /** Its blocks. */
  content: readonly Block[];
};

/** A tool call. */
export type RunCall = {
  /** The name of the tool. */
  tool: string;
  /** What the tool got: what the model asked for, or what the person who approved the call wrote instead. */
  input: Json;
  /** What became of the call. */
  status: CallStatus;
  /** What the model got; null: nothing yet. */
  result: string | readonly ResultPart[] | null;
  /** Whether the result says that the call failed. */
  is_error: boolean;
};

/** The final answer of a job. */
export type RunOutput = {
  /** Its text. */
  text: string;
  /** Its JSON, if the job has a schema; else null. */
  data: Json;
};

/** Why a job did not complete. */
export type RunError = {
  /** A code of the API. */
  code: string;
  /** What went wrong, in a sentence. */
  message: string;
};

/** The result of `runRole`. */
export type RoleRun = {
  /** What became of the job. */
  status: JobStatus;
  /** The final answer: its text, and its JSON if the job has a schema that it matches. Null: there is none. */
  output: RunOutput | null;
  /** Why the job did not complete; null: it did, or still waits. */
  error: RunError | null;
  /** The conversation. */
  messages: readonly RunMessage[];
  /** In the order in which the model made them. */
  calls: readonly RunCall[];
  /** What this job, one before it, or a worker below waits for: decisions and answers that the options did not give. */
  waiting_for: readonly Awaited[];
  /** Model calls of the job that were answered. */
  steps: number;
  /** Tokens of all model calls of the job. */
  usage: PublicUsage;
  /** What the tools logged. */
  log: readonly ReportedEntry[];
  /** What the tools reported of their progress. */
  progress: readonly ReportedProgress[];
  /** What the tools started with `context.spawn` and `context.enqueue`. It does not run. */
  started: readonly StartedWork[];
  /** The workers that it created with `spawn_worker`, in order, each with its last job. */
  children: readonly ChildRun[];
  /** How long the job took with its waits, in milliseconds; these pass at once in a test. */
  elapsed_ms: Millis;
};

/** What became of a worker that another one created. */
export type ChildRun = Omit<RoleRun, 'elapsed_ms'> & {
  /** The name of the worker. */
  name: string;
  /** Its role; null: it has none. */
  role: string | null;
};

/** `tree` null: other workers did not run. */
type Finished = {
  tree: MemoryTree | null;
  context: MemoryContext;
  reports: Reports;
  durable: MemoryDurable;
  jobId: JobId | null;
  beganAt: Millis;
  endedAt: Millis;
};

export function toRoleRun({ beganAt, endedAt, ...finished }: Finished): RoleRun {
  return { ...runOf(finished), elapsed_ms: endedAt - beganAt };
}

function childrenOf({ tree, context }: Pick<Finished, 'tree' | 'context'>): ChildRun[] {
  const children = tree?.members.filter(({ parent }) => parent === context.current.workerId) ?? [];
  return children.map((child) => {
    const { name, role } = child;
    return { name, role, ...runOf({ ...child, tree, jobId: lastJobOf(child.context) }) };
  });
}

function runOf({
  tree,
  context,
  reports,
  durable,
  jobId,
}: Omit<Finished, 'beganAt' | 'endedAt'>): Omit<RoleRun, 'elapsed_ms'> {
  const children = childrenOf({ tree, context });
  const ended = jobId === null ? undefined : context.ended.get(jobId);
  const { current } = context;
  // A job behind one that waits is still queued.
  const job = ended?.job ?? (current.job?.id === jobId ? current.job : null);
  const outcome = ended?.outcome ?? null;
  return {
    status: outcome?.status ?? job?.status ?? 'queued',
    output: outcome === null ? null : outputIn(context, outcome),
    error: outcome !== null && 'error' in outcome ? { ...outcome.error } : null,
    messages: context.messages.map(toRunMessage),
    calls: callsOf(context),
    waiting_for: [...awaitedIn(current), ...children.flatMap((child) => child.waiting_for)],
    steps: job?.steps ?? 0,
    usage: toPublicUsage(job?.usage ?? NO_USAGE),
    log: reports.log,
    progress: reports.progress,
    started: durable.started,
    children,
  };
}

function outputIn({ messages }: MemoryContext, outcome: JobOutcome): RoleRun['output'] {
  const id: MessageId | null = 'outputId' in outcome ? outcome.outputId : null;
  const message = messages.find((one) => one.id === id);
  if (message === undefined) return null;
  const text = textOf(message.content);
  return { text, data: 'hasData' in outcome ? JSON.parse(text) : null };
}

function toRunMessage({ role, type, turn, content }: Message): RunMessage {
  return { role, type, turn, text: textOf(content), content };
}

function callsOf({ messages, calls }: MemoryContext): RunCall[] {
  const blocks = messages.flatMap(({ content }) => content);
  const results = new Map(blocks.filter(isToolResult).map((result) => [result.tool_use_id, result]));
  const uses = new Map(blocks.filter(isToolUse).map((use) => [use.id, use]));
  return calls.all.map(({ id, name, status, approvedInput }) => {
    const result = results.get(id);
    return {
      tool: name,
      input: approvedInput ?? uses.get(id)?.input ?? null,
      status,
      result: result?.content ?? null,
      is_error: result?.is_error ?? false,
    };
  });
}
