/** Runs one tool, as a worker process does: checked, with a context, bounded, and with its errors as results. */
import {
  DEFAULT_TENANT,
  DEFAULT_TENANT_NAME,
  type ContextId,
  type JobId,
  type ToolCallId,
  type WorkerId,
} from '../core/ids.ts';
import type { Json, JsonObject } from '../core/json.ts';
import type { ResultPart } from '../core/conversation/blocks.ts';
import { parseUser } from '../core/access/user.ts';
import { LIMITS } from '../core/limits.ts';
import type { ToolInvocation } from '../core/tools/tool.ts';
import type { ToolTransaction } from '../core/tools/transaction.ts';
import { ids } from '../platform/ids.ts';
import type { ToolContext, TransactionalContext } from '../tools/registry/tool-context.ts';
import { createRegistry } from '../tools/registry/registry.ts';
import type { Tool } from '../tools/registry/tool.ts';
import { createToolRunner } from '../tools/run/execute.ts';
import { readConfig } from './abilities.ts';
import { TestKitError } from './error.ts';
import { MemoryDurable, type StartedWork } from './memory/durable.ts';
import { Reports, type ReportedEntry, type ReportedProgress } from './memory/reports.ts';

type TestWorker = { name?: string | undefined; role?: string | null | undefined };

/** For whom the tool runs, in place of the defaults of a test. */
export type ToolRunContext = {
  /** Default: `default`. */
  tenant?: string | undefined;
  /** Default: null. */
  user?: string | null | undefined;
  /** Default: `{}`. */
  metadata?: JsonObject | undefined;
  /** The name and the role of the worker. Default: `test`, no role. */
  worker?: TestWorker | undefined;
  /** Of the job. Default: 1. */
  attempt?: number | undefined;
  /** Default: the id of the call. */
  idempotency_key?: string | undefined;
};

/** How `runTool` runs the tool. */
export type RunToolOptions = {
  /** The name of the tool, with its prefix: needed for a package with several tools. */
  tool?: string | undefined;
  /** For whom it runs. */
  context?: ToolRunContext | undefined;
  /** Aborts the call. */
  signal?: AbortSignal | undefined;
  /** What a transactional tool gets as `tx`. You begin and end it: to roll it back after each test keeps nothing. */
  tx?: ToolTransaction | undefined;
};

/** What a tool did. */
export type ToolRun = {
  /** What `execute` returned; undefined: it did not run, threw, or did not end. */
  output: unknown;
  /** What the model gets: a text, or text and images. Null: the call was aborted. */
  content: string | readonly ResultPart[] | null;
  /** What the model gets of a call that failed; null: it did not fail. */
  error: string | null;
  /** What `execute` threw: the model sees only a reference to an error that is no `ToolError`. Undefined: nothing. */
  thrown: unknown;
  /** What it logged. */
  log: readonly Omit<ReportedEntry, 'tool'>[];
  /** What it reported of its progress. */
  progress: readonly Omit<ReportedProgress, 'tool'>[];
  /** What it started with `context.spawn` and `context.enqueue`. It does not run. */
  started: readonly Omit<StartedWork, 'tool'>[];
};

/**
 * Runs a tool once with this input. The input is checked by the schema of the tool and the result converted as in the
 * product; nothing asks for approval. A tool that fails, or that refuses the input, is a result with `error`. Throws a
 * `TestKitError`: `invalid_config` if the tool itself is not valid, `unknown_tool` if a package has several tools and `tool`
 * names none of them, `unavailable` if it is transactional and there is no `tx`.
 */
export async function runTool(tool: object, input: Json, options: RunToolOptions = {}): Promise<ToolRun> {
  const { tools, hide } = readConfig({ tools: [tool] });
  const read = chosen(tools, options.tool);
  const { tx = null } = options;
  if (read.transactional === true && tx === null)
    throw new TestKitError(
      'unavailable',
      `The tool ${read.descriptor.name} is transactional. Give it a transaction: runTool(tool, input, { tx }).`,
    );
  const seen: Pick<ToolRun, 'output' | 'thrown'> = { output: undefined, thrown: undefined };
  const runner = createToolRunner(createRegistry([watched(read, seen)]), { limits: LIMITS, hide });
  const reports = new Reports();
  const durable = new MemoryDurable(null, tx);
  const call = invocationOf(read.descriptor.name, input, options.context ?? {});
  const services = { report: reports.open(call), ...durable.open(call) };
  const outcome = await runner.execute(call, options.signal ?? new AbortController().signal, services);
  return {
    output: seen.output,
    thrown: seen.thrown,
    content: outcome.kind === 'result' ? outcome.content : null,
    error: outcome.kind === 'aborted' ? 'The call was aborted.' : outcome.is_error ? textOf(outcome.content) : null,
    log: reports.log.map(({ level, message, fields }) => ({ level, message, fields })),
    progress: reports.progress.map(({ message, done, total }) => ({ message, done, total })),
    started: durable.started.map(({ kind, step, input: task, role, context_id }) => ({
      kind,
      step,
      input: task,
      role,
      context_id,
    })),
  };
}

function chosen(tools: readonly Tool[], name: string | undefined): Tool {
  const names = tools.map(({ descriptor }) => descriptor.name);
  const [first, second] = name === undefined ? tools : tools.filter(({ descriptor }) => descriptor.name === name);
  if (first !== undefined && second === undefined) return first;
  if (name !== undefined)
    throw new TestKitError(
      'unknown_tool',
      `tool: no tool has the name ${JSON.stringify(name)}. Its tools: ${names.join(', ') || 'none'}.`,
    );
  if (first === undefined) throw new TestKitError('unknown_tool', 'There is no tool.');
  throw new TestKitError(
    'unknown_tool',
    `The package has several tools: ${names.join(', ')}. Say which: runTool(package, input, { tool: '${names[0]}' }).`,
  );
}

/** Keeps what the tool returns or throws. */
function watched(tool: Tool, seen: Pick<ToolRun, 'output' | 'thrown'>): Tool {
  const watch = async (execute: () => unknown): Promise<unknown> => {
    try {
      seen.output = await execute();
      return seen.output;
    } catch (error) {
      seen.thrown = error;
      throw error;
    }
  };
  return tool.transactional === true
    ? {
        ...tool,
        execute: (input, context: TransactionalContext, call) => watch(() => tool.execute(input, context, call)),
      }
    : { ...tool, execute: (input, context: ToolContext, call) => watch(() => tool.execute(input, context, call)) };
}

function textOf(content: string | readonly ResultPart[]): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function invocationOf(
  name: string,
  input: Json,
  { tenant, user, metadata = {}, worker, attempt = 1, idempotency_key: key }: ToolRunContext,
): ToolInvocation {
  const id = ids.next<ToolCallId>();
  const jobId = ids.next<JobId>();
  return {
    id,
    name,
    input,
    tenantId: DEFAULT_TENANT,
    tenantName: tenant ?? DEFAULT_TENANT_NAME,
    metadata,
    user: parseUser(user),
    jobId,
    workerId: ids.next<WorkerId>(),
    workerName: worker?.name ?? 'test',
    role: worker?.role ?? null,
    contextId: ids.next<ContextId>(),
    attempt,
    idempotencyKey: key ?? id,
    traceParent: null,
  };
}
