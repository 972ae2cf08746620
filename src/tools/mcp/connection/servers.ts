/** The MCP servers of the config file, in this worker process. */
import { setTimeout } from 'node:timers/promises';
import type { ToolCaller } from '../../../core/tools/tool.ts';
import type { Offer, Runs, ServerWatch, ToolServers } from '../../registry/servers.ts';
import type { Tool } from '../../registry/tool.ts';
import type { ToolLog } from '../../run/tool-log.ts';
import { serverOf } from '../../../core/tools/mcp-tool-name.ts';
import { Editions } from './editions.ts';
import type { Instances } from './instances.ts';
import type { McpServer } from './server.ts';
import type { ServerSettings } from '../settings/server-settings.ts';
import { standIn } from '../stand-in.ts';

/** How long the start of the process waits for the shared servers, in milliseconds. Slower ones connect later. */
const START_MS = 3_000;

/** One instance for all callers. */
type Shared = { server: McpServer; editions: Editions; standIn: Tool };

export function openServers(
  settings: ReadonlyMap<string, ServerSettings>,
  { version, log }: { version: string; log: ToolLog },
): ToolServers {
  const shared = new Map<string, Shared>();
  const owned = new Map<string, Instances>();
  return {
    names: [...settings.keys()].sort(),
    scopeOf: (name) => settings.get(name)?.scope ?? null,
    use(names, caller) {
      const wanted = names.flatMap((name) => owned.get(name) ?? []);
      // All or none: a job that waits for one server must not hold another one.
      const isRoom = wanted.map((instances) => instances.hasRoom(caller)).every(Boolean);
      if (isRoom) for (const instances of wanted) instances.use(caller);
      return isRoom;
    },
    offer(name, caller): Offer | null {
      const one = shared.get(name);
      if (one !== undefined) return offerOf(one, caller);
      if (!settings.has(name)) return null;
      return caller === null ? { kind: 'starting' } : (owned.get(name)?.offer(caller) ?? { kind: 'starting' });
    },
    get(tool, caller) {
      const name = serverOf(tool) ?? '';
      const one = shared.get(name);
      if (one !== undefined)
        return one.server.get(tool) ?? (tool === one.standIn.descriptor.name ? one.standIn : undefined);
      return caller === null ? undefined : owned.get(name)?.get(tool, caller);
    },
    async start(watch: ServerWatch, runs: Runs) {
      if (settings.size === 0) return;
      // Loaded on demand: the MCP library is needed only with servers.
      const [{ McpServer }, { Instances }] = await Promise.all([import('./server.ts'), import('./instances.ts')]);
      for (const [name, one] of settings) {
        if (one.scope !== 'shared') {
          owned.set(name, new Instances(one, { version, log, watch, runs }));
          continue;
        }
        watch.up(name, false);
        const server = new McpServer(one, version, log, watch);
        shared.set(name, { server, editions: new Editions(), standIn: standIn(name) });
      }
      const tried = [...shared.values()].map(({ server }) => server.start());
      const timeout = new AbortController();
      const rest = setTimeout(START_MS, undefined, { signal: timeout.signal }).catch(() => undefined);
      await Promise.race([Promise.all(tried), rest]);
      timeout.abort();
    },
    async stop() {
      const all = [...[...shared.values()].map(({ server }) => server), ...owned.values()];
      await Promise.all(all.map((one) => one.stop()));
    },
  };
}

function offerOf({ server, editions, standIn: missing }: Shared, caller: ToolCaller | null): Offer {
  const { offered, isStarting } = server;
  if (offered !== null) return { kind: 'tools', tools: editions.of(caller?.jobId ?? null, offered) };
  return isStarting ? { kind: 'starting' } : { kind: 'tools', tools: [missing.descriptor] };
}
