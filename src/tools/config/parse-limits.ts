/**
 * Parses the limits of the config file. Limits that this release does not enforce are refused, because an ignored limit
 * would be worse than none.
 */
import { LIMITS } from '../../core/limits.ts';
import { isReserved } from '../../core/model/parameters.ts';
import type { AskingLimits } from '../../core/run/policy.ts';
import type { RunCommandLimits } from '../built-in/command/limits.ts';
import type { FileLimits } from '../built-in/files/limits.ts';
import type { HttpFetchLimits } from '../built-in/http/limits.ts';
import type { WorkerLimitsConfig } from '../../core/workers/worker-limits.ts';
import { fault, filledText, integer, list, members, oneOf, optional } from './member.ts';
import type { Member } from './member.ts';
import { parseFiles, parseHttpFetch, parseRunCommand } from './parse-built-in-limits.ts';
import { LONGEST_TIMER_MS } from '../run/timer.ts';

/** The limits set in the config file; unset ones keep the value from core's `LIMITS`. Includes the retention period. */
export type SetLimits = Partial<
  Record<
    | 'queuedInputs'
    | 'maxSteps'
    | 'toolResult'
    | 'toolTimeoutMs'
    | 'outcomeWaitMs'
    | 'archivedDays'
    | 'workerDepth'
    | 'workerChildren'
    | 'workersInTree'
    | 'tenantWorkers'
    | 'hops'
    | 'messagesPerMinute',
    number
  >
> & {
  asking?: AskingLimits;
  httpFetch?: HttpFetchLimits;
  files?: FileLimits;
  runCommand?: RunCommandLimits;
  parameters?: readonly string[];
};

const ASKING = ['approval_timeout_s', 'approval_default', 'answer_timeout_s'];
/** Ten years. */
const LONGEST_WAIT_S = 10 * 365 * 86_400;
const BUILT_IN = ['http_fetch', 'files', 'run_command'];

const MOST = 1_000_000;

const SHAPE = {
  what: 'limits',
  known: [
    'queued_inputs',
    'max_steps',
    'tool_result',
    'tool_timeout_ms',
    ...ASKING,
    'outcome_timeout_s',
    'retention',
    'depth',
    'children',
    'workers',
    'tenant_workers',
    'hops',
    'messages_per_minute',
    'parameters',
    ...BUILT_IN,
  ],
  notBuilt: ['sizes', 'depths', 'concurrency'],
};

const RETENTION = { what: 'retention', known: ['archived_days'] };

export function parseLimits(member: Member): SetLimits | null {
  const of = members(member, SHAPE);
  if (of === null) return null;
  const queuedInputs = optional(of('queued_inputs'), integer(1, 1_000_000));
  const maxSteps = optional(of('max_steps'), integer(1, 1_000_000));
  const toolResult = optional(of('tool_result'), integer(100, 10_000_000));
  const toolTimeoutMs = optional(of('tool_timeout_ms'), integer(1, LONGEST_TIMER_MS));
  const asking = parseAsking(of);
  const outcomeWaitS = optional(of('outcome_timeout_s'), integer(1, LIMITS.outcomeWaitS));
  const archivedDays = optional(of('retention'), parseRetention);
  const httpFetch = optional(of('http_fetch'), parseHttpFetch);
  const files = optional(of('files'), parseFiles);
  const runCommand = optional(of('run_command'), parseRunCommand);
  const workerDepth = optional(of('depth'), integer(0, MOST));
  const workerChildren = optional(of('children'), integer(0, MOST));
  const workersInTree = optional(of('workers'), integer(0, MOST));
  const hops = optional(of('hops'), integer(1, 10_000));
  const messagesPerMinute = optional(of('messages_per_minute'), integer(0, MOST));
  const tenantWorkers = optional(of('tenant_workers'), integer(0, MOST));
  const parameters = optional(of('parameters'), list(parameterName));
  return {
    ...(queuedInputs !== null && { queuedInputs }),
    ...(maxSteps !== null && { maxSteps }),
    ...(toolResult !== null && { toolResult }),
    ...(toolTimeoutMs !== null && { toolTimeoutMs }),
    ...(asking !== null && { asking }),
    ...(outcomeWaitS !== null && { outcomeWaitMs: outcomeWaitS * 1_000 }),
    ...(archivedDays !== null && { archivedDays }),
    ...(httpFetch !== null && { httpFetch }),
    ...(files !== null && { files }),
    ...(runCommand !== null && { runCommand }),
    ...(workerDepth !== null && { workerDepth }),
    ...(workerChildren !== null && { workerChildren }),
    ...(workersInTree !== null && { workersInTree }),
    ...(tenantWorkers !== null && { tenantWorkers }),
    ...(hops !== null && { hops }),
    ...(messagesPerMinute !== null && { messagesPerMinute }),
    ...(parameters !== null && { parameters }),
  };
}

/** An additional provider parameter. */
function parameterName(member: Member): string | null {
  const name = filledText(member);
  if (name === null) return null;
  return isReserved(name) ? fault(member, `${name} is reserved by the platform`) : name;
}

const WORKERS = { what: 'limits', known: ['depth', 'children', 'workers'] };

/** Limits for descendant workers in a role. */
export function parseWorkerLimits(member: Member): WorkerLimitsConfig | null {
  const of = members(member, WORKERS);
  if (of === null) return null;
  const depth = optional(of('depth'), integer(0, MOST));
  const children = optional(of('children'), integer(0, MOST));
  const workers = optional(of('workers'), integer(0, MOST));
  return {
    ...(depth !== null && { depth }),
    ...(children !== null && { children }),
    ...(workers !== null && { workers }),
  };
}

/** Null: nothing is set. */
function parseAsking(of: (name: string) => Member): AskingLimits | null {
  if (ASKING.every((name) => of(name).value === undefined)) return null;
  return {
    approvalMs: millis(optional(of('approval_timeout_s'), integer(1, LONGEST_WAIT_S))),
    onExpiry: optional(of('approval_default'), oneOf(['approve', 'deny'])) ?? 'deny',
    answerMs: millis(optional(of('answer_timeout_s'), integer(1, LONGEST_WAIT_S))),
  };
}

function millis(seconds: number | null): number | null {
  return seconds === null ? null : seconds * 1_000;
}

/** Days that archived contexts are kept. */
function parseRetention(member: Member): number | null {
  const of = members(member, RETENTION);
  return of === null ? null : optional(of('archived_days'), integer(1, 36_500));
}
