/** A runner over given tools, and calls to it. */
import { v7 } from 'uuid';
import {
  DEFAULT_TENANT,
  DEFAULT_TENANT_NAME,
  parseId,
  type ContextId,
  type JobId,
  type ToolCallId,
  type WorkerId,
} from '../../src/core/ids.ts';
import type { Json } from '../../src/core/json.ts';
import type { OpenReport } from '../../src/core/tools/report.ts';
import type { CallSteps, StoredStep } from '../../src/core/tools/steps.ts';
import type { CallServices, ToolInvocation, ToolOutcome, ToolRunner } from '../../src/core/tools/tool.ts';
import type { ToolDefinition } from '../../src/index.ts';
import { createToolRunner, type ToolRunnerOptions } from '../../src/tools/run/execute.ts';
import { toTool } from './to-tool.ts';
import { createRegistry } from '../../src/tools/registry/registry.ts';

const LIMITS = { toolResult: 200_000, toolTimeoutMs: 60_000 };

/** Takes what tools report, and keeps nothing. */
export const NO_REPORT: OpenReport = { log: () => undefined, progress: () => undefined, end: () => undefined };

/** Keeps the steps of one call in `stored`. */
export function stepsIn(stored: Map<string, StoredStep>): CallSteps {
  return {
    load: async () => new Map(stored),
    store: async ({ name, value, bytes }) => {
      const kept = stored.get(name) ?? { value, bytes };
      stored.set(name, kept);
      return { value: kept.value };
    },
  };
}

/** Keeps nothing after the call. */
export const NO_SERVICES: CallServices = {
  report: NO_REPORT,
  steps: stepsIn(new Map()),
  starts: { enqueue: async () => null, spawn: async () => null },
  transaction: { run: async () => null },
};

export function runnerOf(tools: readonly ToolDefinition[], options: Partial<ToolRunnerOptions> = {}): ToolRunner {
  return createToolRunner(createRegistry(tools.map(toTool)), { limits: LIMITS, ...options });
}

export function call(name: string, input: Json): ToolInvocation {
  return {
    id: fresh<ToolCallId>(),
    name,
    input,
    tenantId: DEFAULT_TENANT,
    tenantName: DEFAULT_TENANT_NAME,
    metadata: {},
    user: null,
    jobId: fresh<JobId>(),
    workerId: fresh<WorkerId>(),
    workerName: 'w',
    role: null,
    contextId: fresh<ContextId>(),
    attempt: 1,
    idempotencyKey: v7(),
    traceParent: null,
  };
}

/** Runs one call without an abort, and returns its result. */
export async function resultOf(
  runner: ToolRunner,
  invocation: ToolInvocation,
  services: Partial<CallServices> = {},
): Promise<Extract<ToolOutcome, { kind: 'result' }>> {
  const outcome = await runner.execute(invocation, new AbortController().signal, { ...NO_SERVICES, ...services });
  if (outcome.kind !== 'result') throw new Error('The call was aborted.');
  return outcome;
}

function fresh<T extends ToolCallId | JobId | WorkerId | ContextId>(): T {
  const id = parseId<T>(v7());
  if (id === null) throw new Error('Not an id.');
  return id;
}
