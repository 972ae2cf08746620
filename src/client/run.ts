/**
 * Follows a job to its end and answers its requests: functions run its client tools, callbacks answer questions and
 * approvals. Requests without a function or callback are left to other clients.
 */
import { NightshiftError } from './errors.ts';
import { followEvents, type StreamEvent } from './events.ts';
import { waitForJob } from './calls/jobs.ts';
import { outputSchema, type JobOf, type StandardJsonSchema } from './output.ts';
import type {
  ApproveCalls,
  ApprovalRequestedEvent,
  InputRequestedEvent,
  Json,
  PostMessage,
  PostResult,
} from './schema.ts';
import type { Transport } from './transport.ts';
import { toInput } from './calls/workers.ts';

type Call = { tool_call_id: string; job_id: string; signal: AbortSignal };
type Maybe<T> = T | undefined | Promise<T | undefined>;

/**
 * Returns the result: text, a value for JSON, or `{content, is_error}`. A thrown error becomes an error of the tool.
 */
export type ToolFunction = (input: Json, call: Call) => unknown;

type AskedEvent = InputRequestedEvent & { question: string };

/** Options of `contexts.run`. `Output`: the schema of a library that gives `output.data` its type. */
export type RunOptions<Output extends StandardJsonSchema | undefined = undefined> = (
  | {
      /** The input to post: a text, or an object with `content` and more. */
      input: string | PostMessage;
      /** A schema that the answer must match; it gives `output.data` of the job its type. Sent as `output_schema`. */
      output?: Output;
    }
  | {
      /** A job that exists, to follow. */
      job_id: string;
    }
) & {
  /** Functions by name of the client tool (`config.client_tools`). They may run twice, for example after a crash. */
  tools?: Readonly<Record<string, ToolFunction>>;
  /** Returns the answer; undefined leaves it to another client. */
  onQuestion?: (event: AskedEvent, call: Call) => Maybe<string>;
  /** Returns the decision; undefined leaves it to another client. */
  onApproval?: (
    event: ApprovalRequestedEvent,
    call: Call,
  ) => Maybe<'approve' | 'deny' | Omit<ApproveCalls, 'tool_call_id' | 'all'>>;
  /** Called with every event of the context from the input on. */
  onEvent?: (event: StreamEvent) => void;
  /** When it aborts, the promise rejects with its reason; the job continues. */
  signal?: AbortSignal;
};

export type AnyRunOptions = RunOptions<StandardJsonSchema | undefined>;

export async function runJob<T>(transport: Transport, contextId: string, options: AnyRunOptions): Promise<JobOf<T>> {
  const over = new AbortController();
  const signal = options.signal === undefined ? over.signal : AbortSignal.any([options.signal, over.signal]);
  const { jobId, after } = await begin(transport, contextId, options);
  const answers: Promise<void>[] = [];
  const isEnd = ({ event, data }: StreamEvent): boolean => event === 'JobFinished' && data.job_id === jobId;
  const faults: unknown[] = [];
  try {
    for await (const event of followEvents(transport.open, contextId, { after, signal, until: isEnd })) {
      options.onEvent?.(event);
      const answered = answer({ transport, contextId, jobId, options, signal }, event);
      // An error in a callback ends the run at once.
      answers.push(
        answered.catch((error: unknown) => {
          if (signal.aborted) return;
          faults.push(error);
          over.abort();
        }),
      );
    }
  } finally {
    over.abort();
  }
  await Promise.all(answers);
  options.signal?.throwIfAborted();
  if (faults.length > 0) throw faults[0];
  return waitForJob<T>(transport.request, jobId, options.signal === undefined ? {} : { signal: options.signal });
}

/** The job, and the event number to start after: for an existing job 0, the start of its context. */
async function begin({ request }: Transport, id: string, options: AnyRunOptions) {
  if ('job_id' in options) return { jobId: options.job_id, after: 0 };
  const given = options.signal === undefined ? {} : { signal: options.signal };
  const { output } = options;
  const input = toInput(options.input);
  const body = output === undefined ? input : { ...input, output_schema: outputSchema(output) };
  const accepted = await request('POST', '/api/contexts/{id}/messages', { path: { id }, body, ...given });
  const after = Number(new URL(accepted.stream_url, 'http://api').searchParams.get('after') ?? 0);
  return { jobId: accepted.job_id, after };
}

type Run = {
  transport: Transport;
  contextId: string;
  jobId: string;
  options: AnyRunOptions;
  signal: AbortSignal;
};

async function answer(run: Run, { event, data }: StreamEvent): Promise<void> {
  if (event !== 'InputRequested' && event !== 'ApprovalRequested') return;
  const { jobId, options, signal } = run;
  // Replayed requests may be answered already: do not run the function again.
  if (data.job_id !== jobId || ('job_id' in options && !(await isWaiting(run, data.tool_call_id)))) return;
  const call = { tool_call_id: data.tool_call_id, job_id: jobId, signal };
  await (event === 'ApprovalRequested' ? approve(run, data, call) : giveResult(run, data, call));
}

async function isWaiting({ transport, contextId: id, signal }: Run, tool_call_id: string): Promise<boolean> {
  const path = { id, tool_call_id };
  const { status } = await transport.request('GET', '/api/contexts/{id}/tools/{tool_call_id}', {
    path,
    signal,
  });
  return status === 'waiting';
}

async function approve(run: Run, event: ApprovalRequestedEvent, call: Call): Promise<void> {
  const { transport, contextId: id, options, signal } = run;
  const approval = await options.onApproval?.(event, call);
  if (approval === undefined) return;
  const decided = typeof approval === 'string' ? { decision: approval } : approval;
  const body = { ...decided, tool_call_id: call.tool_call_id };
  await unlessAnswered(transport.request('POST', '/api/contexts/{id}/tools/approve', { path: { id }, body, signal }));
}

async function giveResult(run: Run, event: InputRequestedEvent, call: Call): Promise<void> {
  const { transport, contextId: id, options, signal } = run;
  const body = await resultOf(options, event, call);
  if (body === undefined) return;
  const path = { id, tool_call_id: call.tool_call_id };
  await unlessAnswered(
    transport.request('POST', '/api/contexts/{id}/tools/{tool_call_id}/result', { path, body, signal }),
  );
}

async function resultOf(
  options: AnyRunOptions,
  event: InputRequestedEvent,
  call: Call,
): Promise<PostResult | undefined> {
  const { question } = event;
  if (question !== null) {
    const content = await options.onQuestion?.({ ...event, question }, call);
    return content === undefined ? undefined : { content };
  }
  const { tools = {} } = options;
  const tool = Object.hasOwn(tools, event.name) ? tools[event.name] : undefined;
  if (tool === undefined) return undefined;
  try {
    return toResult(await tool(event.input, call));
  } catch (error) {
    if (call.signal.aborted) throw error;
    return { content: error instanceof Error ? error.message : String(error), is_error: true };
  }
}

function toResult(value: unknown): PostResult {
  if (typeof value === 'string') return { content: value };
  if (typeof value === 'object' && value !== null && 'content' in value) return value as PostResult;
  return { content: JSON.stringify(value) ?? '' };
}

/** Ignores `not_waiting`: another client answered first. */
async function unlessAnswered(answered: Promise<unknown>): Promise<void> {
  try {
    await answered;
  } catch (error) {
    if (!(error instanceof NightshiftError) || error.code !== 'not_waiting') throw error;
  }
}
