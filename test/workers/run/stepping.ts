// A fleet whose tool has durable steps, and a call of it that waits.
import { onTestFinished } from 'vitest';
import { DEFAULT_TENANT, type ContextId, type ProcessId, type ToolCallId } from '../../../src/core/ids.ts';
import type { RunningCall } from '../../../src/db/calls/tool-steps.ts';
import { defineTool, type ToolContext, type ToolReturn } from '../../../src/index.ts';
import { runnerOf } from '../../tools/invoke.ts';
import { says, startFleet, type Fleet, type FleetOptions } from '../worker-fleet.ts';

type Execute = (context: ToolContext) => ToolReturn | Promise<ToolReturn>;

type Options = Partial<FleetOptions> & { timeoutMs?: number };

/** A fleet whose model calls `work` once, and then ends. It is closed at the end of the test. */
export async function startStepping(execute: Execute, { timeoutMs, ...more }: Options = {}): Promise<Fleet> {
  const tool = defineTool({
    name: 'work',
    description: 'd',
    effect: 'idempotent',
    input_schema: { type: 'object' },
    execute: (_, context) => execute(context),
    ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }),
  });
  const runner = runnerOf([tool]);
  const fleet = await startFleet({
    model: ({ messages }) => (messages.length === 1 ? says('', { name: 'work', input: {} }) : says('done')),
    tools: { work: { effect: 'idempotent', execute: (...given) => runner.execute(...given) } },
    ...more,
  });
  onTestFinished(() => fleet.close());
  return fleet;
}

/** As a sweep does that finds the owner dead: another process goes on. */
export async function loseLease(of: Fleet, contextId: ContextId): Promise<void> {
  await of.query(`update contexts set lease_owner = null, lease_epoch = lease_epoch + 1, scheduling_status = 'runnable',
    next_check_at = now() where id = '${contextId}'`);
}

type Waiting = { of: Fleet; call: RunningCall; end: () => void };

/** A call that waits within its tool, and how a process reaches it. */
export async function runningCall(): Promise<Waiting> {
  const began = Promise.withResolvers<ToolContext>();
  const end = Promise.withResolvers<void>();
  const of = await startStepping(async (context) => {
    began.resolve(context);
    await end.promise;
    return 'done';
  });
  const { contextId, jobId } = await of.begin('go');
  const { tool_call_id } = await began.promise;
  const [row] = await of.query(`select lease_owner, lease_epoch from contexts where id = '${contextId}'`);
  const call = {
    tenantId: DEFAULT_TENANT,
    contextId,
    jobId,
    toolCallId: tool_call_id as ToolCallId,
    owner: String(row?.['lease_owner']) as ProcessId,
    epoch: Number(row?.['lease_epoch']),
  };
  return { of, call, end: () => end.resolve() };
}
