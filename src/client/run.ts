/**
 * A job followed to its end by whoever answers it: its client-side tools are functions here, its questions and approvals
 * callbacks. What has no function or callback is left for somebody else to answer.
 */
import { NightshiftError } from './errors.ts';
import { followEvents } from './events.ts';
import type { StreamEvent } from './events.ts';
import { waitForJob } from './jobs.ts';
import type {
  ApproveCalls,
  ApprovalRequestedEvent,
  InputRequestedEvent,
  Job,
  Json,
  PostMessage,
  PostResult,
} from './schema.ts';
import type { Transport } from './transport.ts';
import { toInput } from './workers.ts';

type Call = { tool_call_id: string; job_id: string; signal: AbortSignal };
type Maybe<T> = T | undefined | Promise<T | undefined>;

/** Gives the result: text, anything that becomes JSON, or `{content, is_error}`. What it throws is an error of the tool. */
export type ToolFunction = (input: Json, call: Call) => unknown;

/** `input`: what is the same for all of them. */
export type RunOptions = ({ input: string | PostMessage } | { job_id: string }) & {
  /** Functions by the name of the client tool (`config.client_tools`). They may run twice: after this process died, say. */
  tools?: Readonly<Record<string, ToolFunction>>;
  /** Gives the answer; undefined: somebody else answers. */
  onQuestion?: (asked: InputRequestedEvent & { question: string }, call: Call) => Maybe<string>;
  /** Gives the decision; undefined: somebody else decides. */
  onApproval?: (
    asked: ApprovalRequestedEvent,
    call: Call,
  ) => Maybe<'approve' | 'deny' | Omit<ApproveCalls, 'tool_call_id' | 'all'>>;
  /** Sees every event of the context from the input on. */
  onEvent?: (event: StreamEvent) => void;
  /** Rejects with its reason; the job goes on. */
  signal?: AbortSignal;
};

export async function runJob(transport: Transport, contextId: string, options: RunOptions): Promise<Job> {
  const over = new AbortController();
  const signal = options.signal === undefined ? over.signal : AbortSignal.any([options.signal, over.signal]);
  const { jobId, after } = await begin(transport, contextId, options);
  const answers: Promise<void>[] = [];
  const isEnd = ({ event, data }: StreamEvent): boolean => event === 'JobFinished' && data.job_id === jobId;
  let fault: { error: unknown } | null = null;
  try {
    for await (const event of followEvents(transport.open, contextId, { after, signal, until: isEnd })) {
      options.onEvent?.(event);
      const answered = answer(transport, contextId, jobId, options, event, signal);
      // What goes wrong in a callback ends the run at once.
      answers.push(
        answered.catch((error: unknown) => {
          if (signal.aborted) return;
          fault = { error };
          over.abort();
        }),
      );
    }
  } finally {
    over.abort();
  }
  await Promise.all(answers);
  options.signal?.throwIfAborted();
  rethrow(fault);
  return waitForJob(transport.request, jobId, options.signal === undefined ? {} : { signal: options.signal });
}

function rethrow(fault: { error: unknown } | null): void {
  if (fault !== null) throw fault.error;
}

/** The job, and the number after which it is followed: of one that runs already, from the beginning of its context. */
async function begin({ request }: Transport, id: string, options: RunOptions) {
  if ('job_id' in options) return { jobId: options.job_id, after: 0 };
  const given = options.signal === undefined ? {} : { signal: options.signal };
  const body = toInput(options.input);
  const accepted = await request('POST', '/api/contexts/{id}/messages', { path: { id }, body, ...given });
  const after = Number(new URL(accepted.stream_url, 'http://api').searchParams.get('after') ?? 0);
  return { jobId: accepted.job_id, after };
}

async function answer(
  transport: Transport,
  contextId: string,
  jobId: string,
  options: RunOptions,
  { event, data }: StreamEvent,
  signal: AbortSignal,
): Promise<void> {
  if (event !== 'InputRequested' && event !== 'ApprovalRequested') return;
  if (data.job_id !== jobId) return;
  const call = { tool_call_id: data.tool_call_id, job_id: jobId, signal };
  const path = { id: contextId, tool_call_id: data.tool_call_id };
  // What was told of the past may be answered by now: a function does not run for it again.
  if ('job_id' in options) {
    const { status } = await transport.request('GET', '/api/contexts/{id}/tools/{tool_call_id}', {
      path,
      signal,
    });
    if (status !== 'waiting') return;
  }
  if (event === 'ApprovalRequested') {
    const approval = await options.onApproval?.(data, call);
    if (approval === undefined) return;
    const body = typeof approval === 'string' ? { decision: approval } : approval;
    await unlessAnswered(
      transport.request('POST', '/api/contexts/{id}/tools/approve', {
        path: { id: contextId },
        body: { ...body, tool_call_id: data.tool_call_id },
        signal,
      }),
    );
    return;
  }
  const result = await resultOf(options, data, call);
  if (result === undefined) return;
  await unlessAnswered(
    transport.request('POST', '/api/contexts/{id}/tools/{tool_call_id}/result', {
      path,
      body: result,
      signal,
    }),
  );
}

async function resultOf(
  options: RunOptions,
  asked: InputRequestedEvent,
  call: Call,
): Promise<PostResult | undefined> {
  const { question } = asked;
  if (question !== null) {
    const content = await options.onQuestion?.({ ...asked, question }, call);
    return content === undefined ? undefined : { content };
  }
  const { tools = {} } = options;
  const tool = Object.hasOwn(tools, asked.name) ? tools[asked.name] : undefined;
  if (tool === undefined) return undefined;
  try {
    return toResult(await tool(asked.input, call));
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

/** Somebody else was faster. */
async function unlessAnswered(answered: Promise<unknown>): Promise<void> {
  try {
    await answered;
  } catch (error) {
    if (!(error instanceof NightshiftError) || error.code !== 'not_waiting') throw error;
  }
}
