// The platform in this process, as `nightshift start` runs it, with MCP servers of the config file and a simulated
// model.
import { SILENT } from '../../src/telemetry/telemetry.ts';
import { NO_TELEMETRY } from '../../src/core/tracing/telemetry.ts';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { expect } from 'vitest';
import { startServer } from '../../src/api/server/server.ts';
import { openPlatform } from '../../src/platform/platform.ts';
import { WORKER_LIMITS } from '../../src/platform/services/pool-limits.ts';
import { parseEnvironment } from '../../src/config/config.ts';
import type { Environment } from '../../src/config/environment.ts';
import { parseConfigFile } from '../../src/tools/config/parse-config.ts';
import { PLACEHOLDERS } from '../../src/tools/packages/secrets.ts';
import { openClient, type Client } from '../e2e/rig/client.ts';
import { createTestDatabase } from '../services/database.ts';
import { referenceFolder } from '../../src/package-files.ts';

export type McpPlatform = {
  url: string;
  client: Client;
  folder: string;
  /** Runs one input in a context of its own, whose config names these servers, to its end: its results, in order. */
  run: (servers: string[], input: string) => Promise<string[]>;
  /** Lines of the log. */
  lines: string[];
  /** Resolves with a line of the log, past or future. */
  says(part: string): Promise<string>;
  /** Drains the worker process and starts another one, with MCP servers of its own. */
  replaceWorker(): Promise<void>;
  /** Ends server processes whose command line contains `part`, like a crash. */
  kill(part: string): Promise<void>;
  close(): Promise<void>;
};

/** `toServers`: receives a folder that is theirs alone. `env`: keys and addresses of model providers. */
export async function openMcpPlatform(
  toServers: (folder: string) => object,
  env: Environment = {},
): Promise<McpPlatform> {
  const folder = await mkdtemp(join(tmpdir(), 'nightshift-mcp-'));
  const database = await createTestDatabase();
  const parsed = parseConfigFile({ mcp_servers: toServers(folder) }, PLACEHOLDERS);
  if (!parsed.ok) throw new Error(parsed.faults.join('\n'));
  const lines: string[] = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
  const services = {
    databaseUrl: database.url,
    redisUrl: null,
    poolLimits: WORKER_LIMITS,
    env: process.env,
    telemetry: SILENT,
  };
  const platform = await openPlatform(parseEnvironment(env), services, { ...parsed.settings, path: null }, logger);
  let worker = await platform.startWorker();
  const api = await startServer({
    ...platform.commands,
    config: { ...platform.config, port: 0 },
    roles: platform.roles,
    parameters: [],
    checkInput: platform.checkInput,
    explain: platform.explain,
    about: { ...platform.about, mode: 'laptop' },
    webhooks: platform.webhooks,
    requestRates: platform.requestRates,
    telemetry: NO_TELEMETRY,
    consoleFolder: null,
    referenceFolder: referenceFolder(),
    logger,
  });
  const client = openClient(api.url);
  const says = async (part: string): Promise<string> => {
    for (let left = 1_200; left > 0; left -= 1) {
      const found = lines.find((line) => line.includes(part));
      if (found !== undefined) return found;
      await setTimeout(25);
    }
    return expect.fail(`no log line contains ${part}:\n${lines.join('')}`);
  };
  return {
    url: api.url,
    client,
    folder,
    lines,
    says,
    async run(servers, input) {
      const context = await client.createContext({ model: 'simulated/default', mcp_servers: servers });
      const { job_id } = await client.post(context.id, input);
      expect(await client.ended(job_id)).toMatchObject({ status: 'completed' });
      return resultsOf(client, context.id);
    },
    async replaceWorker() {
      await worker.drain();
      worker = await platform.startWorker();
    },
    async kill(part) {
      const { stdout } = await promisify(execFile)('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)]);
      const pids = stdout
        .split('\n')
        .filter((line) => line.includes(part))
        .map((line) => Number.parseInt(line, 10));
      expect(pids).toHaveLength(1);
      for (const pid of pids) process.kill(pid, 'SIGKILL');
    },
    async close() {
      await api.close();
      await worker.drain();
      await platform.close();
      await database.drop();
      await rm(folder, { recursive: true });
    },
  };
}

/** The results of tools in a context, each as text. */
export async function resultsOf(client: Client, contextId: string): Promise<string[]> {
  const messages = await client.messages(contextId);
  return messages
    .flatMap(({ content }) => content)
    .flatMap((block) => {
      if (block.type !== 'tool_result') return [];
      const { content } = block;
      if (typeof content === 'string') return [content];
      return [content.map((part) => (part.type === 'text' ? part.text : part.type)).join('\n')];
    });
}
