/** Metrics of the MCP servers of a worker process. The config file names the servers. */
import type { ServerFailure } from '../../../core/tools/server-failure.ts';
import type { ServerWatch } from '../../../tools/registry/servers.ts';
import { seconds, type Instruments } from './instruments.ts';

/** Of calls, in seconds: local servers answer within milliseconds, and a call may take ten minutes. */
const CALLS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180, 600];

export function createServerMetrics(instruments: Instruments): ServerWatch {
  const { counter, gauge, histogram } = instruments;
  const calls = counter('mcp_calls_total', 'Tool calls to MCP servers, by outcome.', ['server', 'outcome']);
  const times = histogram('mcp_call_seconds', 'Duration of calls that an MCP server answered.', CALLS, ['server']);
  const restarts = counter('mcp_restarts_total', 'Reconnects to an MCP server.', ['server']);
  const instances = gauge('mcp_instances', 'Instances of an MCP server that belong to tenants or contexts.', [
    'server',
  ]);
  const up = gauge('mcp_server_up', 'Whether an MCP server is up (1) or down (0).', ['server']);
  return {
    called(server, end) {
      calls.inc({ server, outcome: end.outcome });
      if ('ms' in end) times.observe({ server }, seconds(end.ms));
    },
    failed: createFailures(instruments),
    restarted: (server) => restarts.inc({ server }),
    up: (server, isUp) => up.set({ server }, isUp ? 1 : 0),
    instances: (server, count) => instances.set({ server }, count),
    ready: () => undefined,
  };
}

/** Of each reason only the last code is kept, so that codes do not add up to any number of series. */
function createFailures({ gauge }: Instruments): (server: string, failure: ServerFailure) => void {
  const failed = gauge(
    'mcp_server_failed_timestamp_seconds',
    'Time of the last failed or lost connection to an MCP server, by reason.',
    ['server', 'reason', 'code'],
  );
  const codes = new Map<string, string>();
  return (server, { reason, code }) => {
    const text = code === null ? '' : String(code);
    const of = `${server} ${reason}`;
    const before = codes.get(of);
    if (before !== undefined && before !== text) failed.remove({ server, reason, code: before });
    codes.set(of, text);
    failed.setToCurrentTime({ server, reason, code: text });
  };
}
