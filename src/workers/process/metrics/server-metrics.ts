/** Metrics of the MCP servers of a worker process. The config file names the servers. */
import type { ServerWatch } from '../../../tools/registry/servers.ts';
import type { Instruments } from './instruments.ts';

export function createServerMetrics({ counter, gauge }: Instruments): ServerWatch {
  const calls = counter('mcp_calls_total', 'Tool calls to MCP servers, by outcome.', ['server', 'outcome']);
  const restarts = counter('mcp_restarts_total', 'Reconnects to an MCP server.', ['server']);
  const instances = gauge('mcp_instances', 'Instances of an MCP server that belong to tenants or contexts.', [
    'server',
  ]);
  const up = gauge('mcp_server_up', 'Whether an MCP server is up (1) or down (0).', ['server']);
  return {
    called: (server, outcome) => calls.inc({ server, outcome }),
    restarted: (server) => restarts.inc({ server }),
    up: (server, isUp) => up.set({ server }, isUp ? 1 : 0),
    instances: (server, count) => instances.set({ server }, count),
    ready: () => undefined,
  };
}
