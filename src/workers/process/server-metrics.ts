/** Metrics of the MCP servers of a worker process. The config file names the servers. */
import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { ServerWatch } from '../../tools/registry/servers.ts';

export function createServerMetrics(registry: Registry): ServerWatch {
  const registers = [registry];
  const calls = new Counter({
    name: 'nightshift_mcp_calls_total',
    help: 'Tool calls to MCP servers, by outcome.',
    labelNames: ['server', 'outcome'],
    registers,
  });
  const restarts = new Counter({
    name: 'nightshift_mcp_restarts_total',
    help: 'Reconnects to an MCP server.',
    labelNames: ['server'],
    registers,
  });
  const up = new Gauge({
    name: 'nightshift_mcp_server_up',
    help: 'Whether an MCP server is up (1) or down (0).',
    labelNames: ['server'],
    registers,
  });
  return {
    called: (server, outcome) => calls.inc({ server, outcome }),
    restarted: (server) => restarts.inc({ server }),
    up: (server, isUp) => up.set({ server }, isUp ? 1 : 0),
  };
}
