/** The MCP servers of the config file. Each runs once per worker process and is shared by all workers. */
import { setTimeout } from 'node:timers/promises';
import type { Tool } from '../../registry/tool.ts';
import type { Offer, ServerWatch, ToolServers } from '../../registry/servers.ts';
import type { ToolLog } from '../../run/tool-log.ts';
import { Editions } from './editions.ts';
import { serverOf } from '../calls/names.ts';
import type { McpServer } from './server.ts';
import type { ServerSettings } from '../settings/server-settings.ts';
import { standIn } from '../stand-in.ts';

/** How long the start of the process waits for the servers, in milliseconds. Slower ones connect later. */
const START_MS = 3_000;

type Open = { server: McpServer; editions: Editions; standIn: Tool };

export function openServers(
  settings: ReadonlyMap<string, ServerSettings>,
  { version, log }: { version: string; log: ToolLog },
): ToolServers {
  const open = new Map<string, Open>();
  return {
    names: [...settings.keys()].sort(),
    offer(name, jobId): Offer | null {
      const one = open.get(name);
      if (one === undefined) return settings.has(name) ? { kind: 'starting' } : null;
      const { offered, isStarting } = one.server;
      if (offered !== null) return { kind: 'tools', tools: one.editions.of(jobId, offered) };
      return isStarting ? { kind: 'starting' } : { kind: 'tools', tools: [one.standIn.descriptor] };
    },
    get(tool) {
      const one = open.get(serverOf(tool) ?? '');
      return one?.server.get(tool) ?? (tool === one?.standIn.descriptor.name ? one.standIn : undefined);
    },
    async start(watch: ServerWatch) {
      if (settings.size === 0) return;
      // Loaded on demand: the MCP library is needed only with servers.
      const { McpServer } = await import('./server.ts');
      for (const [name, one] of settings) {
        const server = new McpServer(one, version, log, watch);
        watch.up(name, false);
        open.set(name, { server, editions: new Editions(), standIn: standIn(name) });
      }
      const tried = [...open.values()].map(({ server }) => server.start());
      const timeout = new AbortController();
      const rest = setTimeout(START_MS, undefined, { signal: timeout.signal }).catch(() => undefined);
      await Promise.race([Promise.all(tried), rest]);
      timeout.abort();
    },
    async stop() {
      await Promise.all([...open.values()].map(({ server }) => server.stop()));
    },
  };
}
