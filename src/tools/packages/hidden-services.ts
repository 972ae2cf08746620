/** What a tool tells the platform while it runs, without the secrets of tool packages. */
import type { Json } from '../../core/json.ts';
import type { CallReport } from '../../core/tools/report.ts';
import type { CallServices } from '../../core/tools/tool.ts';
import type { ToolContext } from '../registry/tool-context.ts';
import { codeOf, faultName, ownMessage } from '../run/fault.ts';
import { textOf } from '../run/json-text.ts';
import { messageText } from '../run/reported.ts';
import type { ToolLog } from '../run/tool-log.ts';
import { AS_IT_IS, hiddenIn, type Hide } from './hide.ts';

/** Causes of an error that are kept. */
const DEPTH = 4;

/** Results of steps stay as they are: no client reads them, and the tool goes on with them. */
export function hiddenServices(services: CallServices, hide: Hide): CallServices {
  if (hide === AS_IT_IS) return services;
  const { report, steps, starts, transaction } = services;
  return {
    report: hiddenReport(report, hide),
    steps,
    transaction,
    starts: {
      spawn: (name, asked, hasResult) => starts.spawn(name, hiddenIn(asked, hide), hasResult),
      enqueue: (name, asked, hasResult) => starts.enqueue(name, hiddenIn(asked, hide), hasResult),
    },
  };
}

/** The names of steps are shown with the call. */
export function hiddenNames(durable: Pick<ToolContext, 'step' | 'spawn' | 'enqueue'>, hide: Hide): typeof durable {
  if (hide === AS_IT_IS) return durable;
  const { step, spawn, enqueue } = durable;
  return {
    step: (name, work) => step(hiddenIn(name, hide), work),
    spawn: (name, options) => spawn(hiddenIn(name, hide), options),
    enqueue: (name, options) => enqueue(hiddenIn(name, hide), options),
  };
}

function hiddenReport(report: CallReport, hide: Hide): CallReport {
  return {
    log: (level, message, fields) => report.log(level, hide(messageText(message)), hiddenJson(fields, hide)),
    progress: (given) => report.progress(hiddenJson(given, hide)),
  };
}

/** The value as JSON, and so also an error, a Map and other objects; a list if it cannot be converted. Never throws. */
function hiddenJson(given: unknown, hide: Hide): unknown {
  if (typeof given === 'string') return hide(given);
  if (typeof given !== 'object' || given === null) return given;
  try {
    const value: Json = JSON.parse(textOf(given instanceof Error ? { error: given } : given));
    return hiddenIn(value, hide);
  } catch {
    return [];
  }
}

/** The log of the process, for entries about calls. */
export function hiddenLog(log: ToolLog, hide: Hide): ToolLog {
  if (hide === AS_IT_IS) return log;
  const without = (fields: Record<string, unknown>): Record<string, unknown> =>
    Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, hiddenField(field, hide)]));
  return {
    warn: (fields, text) => log.warn(without(fields), text),
    debug: (fields, text) => log.debug(without(fields), text),
  };
}

/** An error, or another value, for the log of the process. */
export function hiddenField(field: unknown, hide: Hide): unknown {
  if (hide === AS_IT_IS) return field;
  if (field instanceof Error) return hiddenError(field, hide);
  return typeof field === 'object' && field !== null && !Array.isArray(field)
    ? hide(messageText(field))
    : hiddenIn(field, hide);
}

/**
 * Name, message, code, stack and causes. Other members, such as the headers of a request, are left out; of a failed query the
 * statement stays, by which the log knows it. Never throws.
 */
export function hiddenError(error: Error, hide: Hide, depth = DEPTH): Error {
  try {
    return readError(error, hide, depth);
  } catch {
    return new Error('an error that cannot be read');
  }
}

function readError(error: Error, hide: Hide, depth: number): Error {
  const { cause, stack = '' }: { cause?: unknown; stack?: unknown } = error;
  const further = cause instanceof Error && depth > 1 ? { cause: hiddenError(cause, hide, depth - 1) } : {};
  const hidden = new Error(hide(ownMessage(error)), further);
  const code = codeOf(error);
  hidden.name = hide(faultName(error));
  hidden.stack = hide(String(stack));
  if ('query' in error && 'params' in error) Object.assign(hidden, { query: hide(String(error.query)), params: [] });
  return code === null ? hidden : Object.assign(hidden, { code: hide(code) });
}
