// Scripted servers in a folder of their own, and a runner over their tools.
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Json } from '../../src/core/json.ts';
import type { ServerFailure } from '../../src/core/tools/server-failure.ts';
import type { ToolInvocation, ToolOutcome } from '../../src/core/tools/tool.ts';
import { createToolRunner } from '../../src/tools/run/execute.ts';
import { openServers } from '../../src/tools/mcp/connection/servers.ts';
import { parseConfigFile } from '../../src/tools/config/parse-config.ts';
import { PLACEHOLDERS } from '../../src/tools/packages/secrets.ts';
import { createRegistry, withServers } from '../../src/tools/registry/registry.ts';
import type { CallEnd, Runs, ToolServers } from '../../src/tools/registry/servers.ts';
import { NO_REPORT, NO_SERVICES, call } from '../tools/invoke.ts';
import { scripted } from './known-servers.ts';

export type Opened = {
  servers: ToolServers;
  /** The facts that servers wrote. */
  facts: () => string[];
  called: [string, CallEnd['outcome']][];
  /** How long answered calls took. */
  answeredMs: number[];
  failures: ServerFailure[];
  progress: unknown[];
  lines: string[];
  names: (server: string) => string[];
  /** Whether it is connected. */
  isUp: (server: string) => boolean;
  run: (tool: string, input?: Json, signal?: AbortSignal, caller?: Partial<ToolInvocation>) => Promise<ToolOutcome>;
  /** Resolves once it is true; fails with a message after a while. */
  until: (condition: () => boolean) => Promise<void>;
  close: () => Promise<void>;
};

/** One scripted server, `it`, once it is connected, however long it takes to start; unless `servers` gives others. */
export async function openScripted(
  settings: object = {},
  servers?: object,
  runs: Runs = { has: () => false },
): Promise<Opened> {
  const folder = await mkdtemp(join(tmpdir(), 'nightshift-mcp-'));
  const parsed = parseConfigFile(
    { mcp_servers: servers ?? { it: { ...scripted(folder), ...settings } } },
    PLACEHOLDERS,
  );
  if (!parsed.ok) throw new Error(parsed.faults.join('\n'));
  const lines: string[] = [];
  const say = (fields: object, text: string): void => void lines.push(`${text} ${JSON.stringify(fields)}`);
  const log = { warn: say, debug: say };
  const open = openServers(parsed.settings.mcpServers, { version: '0', log });
  const called: [string, CallEnd['outcome']][] = [];
  const answeredMs: number[] = [];
  const failures: ServerFailure[] = [];
  const progress: unknown[] = [];
  const limits = { toolResult: 100_000, toolTimeoutMs: 120_000 };
  const report = { ...NO_REPORT, progress: (given: unknown) => void progress.push(given) };
  const runner = createToolRunner(withServers(createRegistry([]), open), { limits, log });
  const up = new Set<string>();
  const until = async (condition: () => boolean): Promise<void> => {
    for (let left = 2_000; left > 0; left -= 1) {
      if (condition()) return;
      await setTimeout(25);
    }
    expect.fail(`it never came to be; the log says:\n${lines.join('\n')}`);
  };
  await open.start(
    {
      called(server, end) {
        called.push([server, end.outcome]);
        if ('ms' in end) answeredMs.push(end.ms);
      },
      failed: (_, failure) => void failures.push(failure),
      up: (server, isUp) => void (isUp ? up.add(server) : up.delete(server)),
      restarted: () => undefined,
      instances: () => undefined,
      ready: () => undefined,
    },
    runs,
  );
  if (servers === undefined && !('scope' in settings)) await until(() => up.has('it'));
  return {
    servers: open,
    facts: () => readFileSync(join(folder, 'facts'), 'utf8').trim().split('\n'),
    called,
    answeredMs,
    failures,
    progress,
    lines,
    names(server) {
      const offer = open.offer(server, null);
      return offer?.kind === 'tools' ? offer.tools.map(({ name }) => name) : [];
    },
    isUp: (server) => up.has(server),
    run: (tool, input = {}, signal = new AbortController().signal, caller = {}) =>
      runner.execute({ ...call(tool, input), ...caller }, signal, { ...NO_SERVICES, report }),
    until,
    async close() {
      await open.stop();
      await rm(folder, { recursive: true });
    },
  };
}
