/**
 * Executes one tool call. Every failure becomes a result that the model can read: an unknown tool, invalid arguments, a
 * tool that throws, hangs or returns an invalid value. Nothing throws. An abort ends the call at once, even if the tool
 * ignores the signal; its late result is dropped.
 *
 * Tools run in the main thread. A tool that blocks it (a busy loop, a synchronous child process) stops every run of the
 * process, and neither timeout nor abort can end it.
 */
import { DEEPEST_JSON, isTooDeep, type Json } from '../../core/json.ts';
import type { SpawnedChild } from '../../core/tools/starts.ts';
import type { CallServices, ToolInvocation, ToolOutcome, ToolRunner } from '../../core/tools/tool.ts';
import { UNKNOWN_TOOL } from '../../core/tools/tool-use.ts';
import { TransactionRefused } from '../../core/tools/transaction.ts';
import { performIn } from '../durable/perform-in.ts';
import { durableOf } from '../durable/run-steps.ts';
import { AS_IT_IS, hiddenIn, type Hide } from '../packages/hide.ts';
import { hiddenLog, hiddenNames, hiddenServices } from '../packages/hidden-services.ts';
import { factsOf, loggedIds } from './facts.ts';
import { LONGEST_FAULT, codeOf, faultFrames, faultName, ownMessage } from './fault.ts';
import { judge } from './judge.ts';
import type { Registry } from '../registry/registry.ts';
import { reconcileCall } from './reconcile.ts';
import { reportingOf } from './reporting.ts';
import { Inexpressible, convert, errorResult, type ToolResult } from './result.ts';
import { LONGEST_TIMER_MS } from './timer.ts';
import { isToolError } from './tool-error.ts';
import { ToolFault, codedText, type FaultCode } from './tool-fault.ts';
import type { Tool } from '../registry/tool.ts';
import type { ToolLog } from './tool-log.ts';
import { truncate } from './truncate.ts';

/**
 * `toolResult`: maximum characters of a result. `toolTimeoutMs`: the default timeout of tools. `outcomeWaitMs`: how
 * long to wait for a person to resolve an unknown outcome; default: no limit.
 */
type ToolLimits = { toolResult: number; toolTimeoutMs: number; outcomeWaitMs?: number };

export type ToolRunnerOptions = {
  limits: ToolLimits;
  log?: ToolLog;
  /** Hides the secrets of tool packages: in results, and in what tools report and give to others. Default: none. */
  hide?: Hide;
};

/** Maximum characters of model output that are quoted in an error. */
const LONGEST_QUOTE = 200;

/** Maximum characters of the code of a `ToolError`. */
const LONGEST_CODE = 100;

export function createToolRunner(registry: Registry, given: ToolRunnerOptions): ToolRunner {
  const options = withHiddenLog(given);
  const { hide = AS_IT_IS } = options;
  return {
    judge: (call, ruled) => judge(registry, call, ruled, options.log),
    mayAsk(call) {
      const tool = registry.get(call.name, call);
      return tool === undefined || (tool.approval ?? 'never') !== 'never';
    },
    async execute(call, signal, services) {
      if (signal.aborted) return { kind: 'aborted' };
      const tool = registry.get(call.name, call);
      if (tool === undefined) return unknownTool(call.name, registry.names);
      return await race({ tool, call, services: hiddenServices(services, hide) }, signal, options);
    },
    async reconcile(call, signal) {
      const tool = registry.get(call.name, call);
      return tool === undefined ? { kind: 'unknown' } : await reconcileCall(tool, call, signal, options);
    },
    outcomeWaitMs: options.limits.outcomeWaitMs ?? null,
  };
}

function withHiddenLog(options: ToolRunnerOptions): ToolRunnerOptions {
  const { log, hide = AS_IT_IS } = options;
  return log === undefined ? options : { ...options, log: hiddenLog(log, hide) };
}

function unknownTool(name: string, names: readonly string[]): ToolResult {
  const known = names.length === 0 ? 'No tools are available.' : `Available tools: ${names.join(', ')}.`;
  return errorResult(`No tool is named ${JSON.stringify(truncate(name, LONGEST_QUOTE))}. ${known}`, UNKNOWN_TOOL);
}

/**
 * Ends with the first of: the tool's result, the timeout, the abort. Leaves no timer and no listener behind. A transaction
 * ends first: it may have committed.
 */
function race(
  { tool, call, services }: { tool: Tool; call: ToolInvocation; services: CallServices },
  outer: AbortSignal,
  options: ToolRunnerOptions,
): Promise<ToolOutcome> {
  return new Promise((resolve) => {
    const own = new AbortController();
    const limitMs = tool.timeoutMs ?? options.limits.toolTimeoutMs;
    let over = false;
    let result = false;
    const children: SpawnedChild[] = [];
    const { hide = AS_IT_IS } = options;
    const spawned = (child: SpawnedChild): void => void children.push({ ...child, name: hide(child.name) });
    /** What the call ends with once its transaction has ended, unless that has settled it. */
    let stopped: ToolOutcome | null = null;
    const transaction = { isOpen: false };
    const end = (outcome: ToolOutcome): void => {
      if (over) return;
      over = true;
      result = outcome.kind === 'result';
      clearTimeout(timer);
      outer.removeEventListener('abort', abort);
      resolve(outcome.kind === 'result' && children.length > 0 ? { ...outcome, spawned: children } : outcome);
    };
    const stop = (outcome: ToolOutcome, reason: unknown): void => {
      if (transaction.isOpen) stopped ??= outcome;
      else end(outcome);
      own.abort(reason);
    };
    const abort = (): void => stop({ kind: 'aborted' }, outer.reason);
    const abandon = (): void => stop({ kind: 'aborted' }, new DOMException('The call must not go on.', 'AbortError'));
    const timeOut = (): void =>
      stop(timedOut(tool, limitMs), new DOMException(`The call took longer than ${limitMs} ms.`, 'TimeoutError'));
    const timer = setTimeout(timeOut, Math.min(limitMs, LONGEST_TIMER_MS));
    outer.addEventListener('abort', abort, { once: true });
    const isOver = (): boolean => over || stopped !== null;
    const reporting = reportingOf(call, services.report, isOver, options.log);
    const hasResult = (): boolean => result;
    const context = { ...factsOf(call, own.signal), ...reporting };
    const limit = options.limits.toolResult;
    const execution = { effect: tool.descriptor.effect, call, signal: own.signal, hasResult, abandon, spawned };
    const perform: Perform =
      tool.transactional === true
        ? performIn(
            services.transaction,
            { tool, call, context, limitMs, converted: (returned) => convert(returned, limit, hide) },
            transaction,
          )
        : async (input) => {
            const durable = hiddenNames(durableOf(execution, services), hide);
            return convert(await tool.execute(input, { ...context, ...durable }, call), limit, hide);
          };
    void run(tool, call, { signal: own.signal, perform }, options).then((outcome) => {
      const isSettled = outcome.kind === 'result' && outcome.settled === true;
      if (over) options.log?.debug(loggedIds(call), 'a tool returned after its call had ended');
      else end(isSettled ? outcome : (stopped ?? outcome));
    });
  });
}

/** Runs the tool with a valid input. Throws what the tool throws. */
type Perform = (input: unknown) => Promise<ToolOutcome>;

/** Never rejects. */
async function run(
  tool: Tool,
  call: ToolInvocation,
  { signal, perform }: { signal: AbortSignal; perform: Perform },
  { log, hide = AS_IT_IS }: ToolRunnerOptions,
): Promise<ToolOutcome> {
  const { name } = tool.descriptor;
  try {
    // A copy, so that a tool that modifies its input does not change the history.
    const input = await tool.validate(structuredClone(call.input));
    if (!input.ok) return refused(tool, call.input, input.problems.map(hide));
    if (call.mustFail === true) return failure(tool, 'invalid_input', acceptedLate(name));
    // Validation may take time: do not execute a call that ended meanwhile.
    signal.throwIfAborted();
    return await perform(input.value);
  } catch (thrown) {
    try {
      return thrownResult(tool, call, { thrown, signal }, { log, hide });
    } catch {
      log?.warn(loggedIds(call), 'a tool threw an error that cannot be read');
      return failure(tool, 'internal', `The tool ${name} failed with an error that cannot be read.`);
    }
  }
}

/** Throws if a member of the error does, which the code of the tool made. */
function thrownResult(
  tool: Tool,
  call: ToolInvocation,
  { thrown, signal }: { thrown: unknown; signal: AbortSignal },
  { log, hide }: { log: ToolLog | undefined; hide: Hide },
): ToolResult {
  const { name } = tool.descriptor;
  const error: unknown = thrown instanceof Inexpressible ? thrown.cause : thrown;
  const does = error === thrown ? 'failed' : 'returned a result that cannot be converted to text';
  if (error instanceof TransactionRefused) return errorResult(codedText(error.code, hide(error.message)));
  if (error instanceof ToolFault)
    return errorResult(codedText(error.code, hide(error.message), hiddenIn(error.beside, hide)));
  if (isToolError(error)) {
    if (error.cause !== undefined) log?.debug({ ...loggedIds(call), err: error }, 'details of the tool error');
    return toolErrorResult(name, error, hide);
  }
  if (!signal.aborted)
    log?.warn({ ...loggedIds(call), error: faultName(error), at: faultFrames(error) }, 'a tool threw an error');
  log?.debug({ ...loggedIds(call), err: error }, 'details of the tool error');
  return failure(
    tool,
    'internal',
    `The tool ${name} ${does}. The operator finds the details in the log under ${call.id}.`,
  );
}

/** Without the causes of the error, which may have details that model and tenant must not see. */
function toolErrorResult(name: string, error: Error, hide: Hide): ToolResult {
  const message = hide(ownMessage(error));
  // A code is for programs: it is cut without a note.
  const code = hide(codeOf(error) ?? '').slice(0, LONGEST_CODE);
  return errorResult(
    code === '' ? `The tool ${name} failed: ${truncate(message, LONGEST_FAULT)}` : codedText(code, message),
  );
}

/** An error of the runner itself, in the format of the tool's errors. */
function failure({ errors }: Tool, code: FaultCode, message: string): ToolResult {
  return errors === 'coded' ? errorResult(codedText(code, message)) : errorResult(message, code);
}

function refused(tool: Tool, input: Json, problems: readonly string[]): ToolResult {
  const { name } = tool.descriptor;
  const why = typeof input === 'string' ? whyText(input) : null;
  const list = (why === null ? problems : [why.message]).map((line) => `- ${line}`).join('\n');
  return failure(
    tool,
    why?.code ?? 'invalid_input',
    `The tool ${name} was not executed: its arguments do not match its input schema.\n${list}\nCorrect the arguments and call the tool again.`,
  );
}

/** When the call was judged, the tool was missing or rejected the arguments, so no person was asked for approval. */
function acceptedLate(name: string): string {
  return `The tool ${name} was not executed: it did not accept the call when it was checked. Call it again.`;
}

/** The reason why arguments are a raw string instead of an object. */
function whyText(input: string): { code: FaultCode; message: string } {
  try {
    const value: Json = JSON.parse(input);
    return isTooDeep(value)
      ? { code: 'input_too_deep', message: `the arguments are nested deeper than ${DEEPEST_JSON} levels` }
      : { code: 'invalid_input', message: 'the arguments must be a JSON object' };
  } catch (error) {
    const message = truncate(`the arguments are not valid JSON: ${String(error)}`, LONGEST_QUOTE);
    return { code: 'invalid_input', message };
  }
}

function timedOut(tool: Tool, limitMs: number): ToolResult {
  const { descriptor } = tool;
  const text = `The tool ${descriptor.name} timed out after ${limitMs / 1_000} s.`;
  return failure(
    tool,
    'timed_out',
    descriptor.effect === 'once' ? `${text} It may have taken effect. Check before repeating it.` : text,
  );
}
