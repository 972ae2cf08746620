/** Figures of the MCP servers of a worker process. Their names are those of the config file. */
import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { ServerWatch } from '../tools/servers.ts';

export function createServerMetrics(registry: Registry): ServerWatch {
  const registers = [registry];
  const calls = new Counter({
    name: 'nightshift_mcp_calls_total',
    help: 'Calls of tools of MCP servers, by how they ended.',
    labelNames: ['server', 'outcome'],
    registers,
  });
  const restarts = new Counter({
    name: 'nightshift_mcp_restarts_total',
    help: 'Times that an MCP server was connected to anew.',
    labelNames: ['server'],
    registers,
  });
  const up = new Gauge({
    name: 'nightshift_mcp_server_up',
    help: 'Whether an MCP server answers.',
    labelNames: ['server'],
    registers,
  });
  return {
    called: (server, outcome) => calls.inc({ server, outcome }),
    restarted: (server) => restarts.inc({ server }),
    up: (server, isUp) => up.set({ server }, isUp ? 1 : 0),
  };
}
