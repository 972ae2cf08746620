/**
 * The limits of the config file. Limits that this release does not enforce are refused, because an ignored limit would
 * be worse than none.
 */
import { Type, type Static } from 'typebox';
import { LIMIT_RANGES, type LimitName } from '../../core/access/quotas.ts';
import { LIMITS } from '../../core/limits.ts';
import type { AskingLimits } from '../../core/run/policy.ts';
import { integer, oneOf, partial } from '../../schema/build.ts';
import { LONGEST_TIMER_MS } from '../run/timer.ts';
import { builtInLimits, toBuiltInLimits, type BuiltInLimitDefinitions } from './built-in-limits.ts';
import { defined } from './defined.ts';
import { formatted } from './file-validator.ts';
import type { WrittenMembers } from './written.ts';

/** Ten years. */
const LONGEST_WAIT_S = 10 * 365 * 86_400;

const MOST = 1_000_000;

const retention = {
  /** Days after which an archived context is deleted permanently. */
  archived_days: integer(1, 36_500),
};

const webhooks = {
  /** Host names, addresses and networks (`10.0.0.0/8`) that are allowed although they are not public. */
  allow: Type.Array(formatted('host')),
  /** Whether http is allowed beside https: false. */
  http: Type.Boolean(),
};

const tenant = {
  /** Requests in a second. Default: no limit, as for all of these. */
  requests_per_s: limit('requests_per_s'),
  /** Requests that one API process serves at once, without event streams. */
  concurrent_requests: limit('concurrent_requests'),
  /** Contexts that run at once. */
  slots: limit('slots'),
  /** Queued and delayed jobs. */
  queued_jobs: limit('queued_jobs'),
  /** Workers, archived ones too. */
  workers: limit('workers'),
  /** Event streams of one API process. */
  streams: limit('streams'),
  /** Content of all messages in MB, 1,048,576 bytes. */
  stored_mb: limit('stored_mb'),
  /** Size of the body of a request in MB, 1,048,576 bytes. */
  upload_mb: limit('upload_mb'),
  /** Milliseconds of one statement of a read that may take long. */
  sql_ms: limit('sql_ms'),
} satisfies Record<LimitName, unknown>;

function limit(name: LimitName) {
  const { least, most } = LIMIT_RANGES[name];
  return integer(least, most);
}

const members = {
  /** Queued inputs of one context. */
  queued_inputs: integer(1, MOST),
  /** Model calls of one job. */
  max_steps: integer(1, MOST),
  /** Characters of one tool result; longer ones are truncated with a note. */
  tool_result: integer(100, 10_000_000),
  /** Milliseconds until a tool call times out. */
  tool_timeout_ms: integer(1, LONGEST_TIMER_MS),
  /** Seconds that a call waits for approval. Default: no limit. */
  approval_timeout_s: integer(1, LONGEST_WAIT_S),
  /** The decision after that time. Default: deny. */
  approval_default: oneOf(['approve', 'deny']),
  /** Seconds that questions and calls of client tools wait for their answer. Default: no limit. */
  answer_timeout_s: integer(1, LONGEST_WAIT_S),
  /**
   * Seconds to wait for a person to resolve an unknown outcome; then the model is told that it is unknown. Default: no
   * limit.
   */
  outcome_timeout_s: integer(1, LIMITS.outcomeWaitS),
  /** By default nothing is purged. */
  retention: partial(retention),
  /** Maximum depth of a worker tree below its root: 8. */
  depth: integer(0, MOST),
  /** Children of one worker: 1,000. */
  children: integer(0, MOST),
  /** Active workers of one tree: 10,000. */
  workers: integer(0, MOST),
  /** Active workers of one tenant. Default: no limit. */
  tenant_workers: integer(0, MOST),
  /** Maximum length of a chain of messages between workers that starts with one input: 16. */
  hops: integer(1, 10_000),
  /** Messages that one worker may send to others per minute: 60. */
  messages_per_minute: integer(0, MOST),
  /** Limits of each tenant that has none of its own. */
  tenant: partial(tenant),
  /** Receivers of webhooks. */
  webhooks: partial(webhooks),
  /** Additional provider parameters that configs may set: `['service_tier']`. */
  parameters: Type.Array(formatted('parameter')),
};

export const Limits = partial({ ...members, ...builtInLimits });
type Limits = Static<typeof Limits>;

/** Defaults are given in the comments. Sizes are in UTF-16 units. */
export type LimitDefinitions = WrittenMembers<typeof members> & BuiltInLimitDefinitions;

/** The limits set in the config file; unset ones keep the value from core's `LIMITS`. Includes the retention period. */
export type SetLimits = ReturnType<typeof toLimits>;

export function toLimits(limits: Limits) {
  const { outcome_timeout_s: outcomeS } = limits;
  return {
    ...toBuiltInLimits(limits),
    ...defined({
      queuedInputs: limits.queued_inputs,
      maxSteps: limits.max_steps,
      toolResult: limits.tool_result,
      toolTimeoutMs: limits.tool_timeout_ms,
      asking: toAsking(limits),
      outcomeWaitMs: outcomeS === undefined ? undefined : outcomeS * 1_000,
      archivedDays: limits.retention?.archived_days,
      workerDepth: limits.depth,
      workerChildren: limits.children,
      workersInTree: limits.workers,
      tenantWorkers: limits.tenant_workers,
      hops: limits.hops,
      messagesPerMinute: limits.messages_per_minute,
      tenantLimits: limits.tenant,
      parameters: limits.parameters,
      webhooks: limits.webhooks && { allow: [], http: false, ...limits.webhooks },
    }),
  };
}

/** Undefined: nothing is set. */
function toAsking({ approval_timeout_s, approval_default, answer_timeout_s }: Limits): AskingLimits | undefined {
  const given = [approval_timeout_s, approval_default, answer_timeout_s];
  if (given.every((limit) => limit === undefined)) return undefined;
  return {
    approvalMs: millis(approval_timeout_s),
    onExpiry: approval_default ?? 'deny',
    answerMs: millis(answer_timeout_s),
  };
}

function millis(seconds: number | undefined): number | null {
  return seconds === undefined ? null : seconds * 1_000;
}
