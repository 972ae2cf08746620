/**
 * A call of a tool on an MCP server over stdio, compared to the same tool in the process, both through the tool runner.
 */
import path from 'node:path';
import { v7 } from 'uuid';
import {
  DEFAULT_TENANT,
  DEFAULT_TENANT_NAME,
  type ContextId,
  type JobId,
  type ToolCallId,
  type WorkerId,
} from '../../src/core/ids.ts';
import type { ToolRunner } from '../../src/core/tools/tool.ts';
import { createToolRunner } from '../../src/tools/run/execute.ts';
import { openServers } from '../../src/tools/mcp/connection/servers.ts';
import { parseConfigFile } from '../../src/tools/config/parse-config.ts';
import { PLACEHOLDERS } from '../../src/tools/packages/secrets.ts';
import { createRegistry, withServers } from '../../src/tools/registry/registry.ts';
import type { Scenario } from '../bench.ts';
import { alone, median } from '../figures.ts';
import { monotonic } from '../talk.ts';
import { LOOK, look } from '../tool.ts';

const CALLS = 2_000;
const AT_ONCE = 32;
const OURS = LOOK.name;
const THEIRS = `bench__${LOOK.name}`;

type Round = { ours: number; theirs: number; perS: number };

export const mcp: Scenario = {
  about: 'a tool on an MCP server',
  async run(bench) {
    const { runner, stop } = await open();
    try {
      const rounds: Round[] = [];
      for (let count = 0; count <= bench.rounds; count += 1) {
        bench.signal.throwIfAborted();
        const ours = await each(runner, OURS, 1);
        const theirs = await each(runner, THEIRS, 1);
        const perS = 1_000 / (await each(runner, THEIRS, AT_ONCE));
        bench.say(
          `${ours.toFixed(3)} ms in the process, ${theirs.toFixed(3)} ms on an MCP server, ${perS.toFixed(0)} calls/s`,
        );
        if (count > 0) rounds.push({ ours, theirs, perS });
      }
      const of = (value: (round: Round) => number): number => median(rounds.map(value));
      return [
        alone(
          'a tool call in the process',
          'ms',
          of(({ ours }) => ours),
        ),
        alone(
          'the same on an MCP server over stdio',
          'ms',
          of(({ theirs }) => theirs),
        ),
        alone(
          `the same, ${AT_ONCE} at once`,
          'calls/s',
          of(({ perS }) => perS),
        ),
      ];
    } finally {
      await stop();
    }
  },
};

async function open(): Promise<{ runner: ToolRunner; stop: () => Promise<void> }> {
  const server = path.join(import.meta.dirname, '../nightshift/mcp-server.ts');
  const parsed = parseConfigFile(
    {
      tools: [
        {
          name: LOOK.name,
          description: LOOK.description,
          input_schema: LOOK.parameters,
          effect: 'none',
          execute: async (input: unknown) => look(input),
        },
      ],
      mcp_servers: { bench: { command: process.execPath, args: [server] } },
    },
    PLACEHOLDERS,
  );
  if (!parsed.ok) throw new Error(parsed.faults.join('\n'));
  const quiet = (): void => undefined;
  const log = { warn: quiet, debug: quiet };
  const servers = openServers(parsed.settings.mcpServers, { version: '0', log });
  await servers.start(
    { called: quiet, failed: quiet, up: quiet, restarted: quiet, instances: quiet, ready: quiet },
    { has: () => false },
  );
  const registry = withServers(createRegistry(parsed.settings.tools), servers);
  const limits = { toolResult: 100_000, toolTimeoutMs: 60_000 };
  return { runner: createToolRunner(registry, { limits }), stop: () => servers.stop() };
}

/** Milliseconds per call. */
async function each(runner: ToolRunner, name: string, atOnce: number): Promise<number> {
  let left = CALLS;
  const began = monotonic();
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await callOnce(runner, name);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return (monotonic() - began) / CALLS;
}

async function callOnce(runner: ToolRunner, name: string): Promise<void> {
  const call = {
    id: v7() as ToolCallId,
    name,
    input: { place: 'the hall' },
    jobId: v7() as JobId,
    workerId: v7() as WorkerId,
    workerName: 'w',
    role: null,
    contextId: v7() as ContextId,
    attempt: 1,
    tenantId: DEFAULT_TENANT,
    tenantName: DEFAULT_TENANT_NAME,
    metadata: {},
    user: null,
    idempotencyKey: 'k',
    traceParent: null,
  };
  const outcome = await runner.execute(call, new AbortController().signal, {
    report: { log: () => undefined, progress: () => undefined },
    steps: { load: async () => null, store: async () => null },
    starts: { enqueue: async () => null, spawn: async () => null },
    transaction: { run: async () => null },
  });
  if (outcome.kind !== 'result' || outcome.is_error) throw new Error(`A call failed: ${JSON.stringify(outcome)}`);
}
