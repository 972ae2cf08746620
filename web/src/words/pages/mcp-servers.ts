/** Texts of the MCP servers on the page Settings. */
import type { McpServerFailure, McpServerInfo } from 'nightshift/client';
import { count } from '../count.ts';

const states: Readonly<Record<McpServerInfo['state'], string>> = {
  up: 'Up',
  down: 'Down',
  unknown: 'Unknown',
};

/** What happened, and what to do. */
type Advice = { what: string; todo: string };

const stderr = 'The log of the worker process has its standard error, at the level debug.';
const log = 'The log of the worker process has the details, at the level debug.';

/** `code`: an exit code or an HTTP status. */
const failures: Readonly<Record<McpServerFailure['reason'], (code: number | null) => Advice>> = {
  command_not_found: () => ({
    what: 'Command not found',
    todo: 'The command or its working directory does not exist on this host. Install it, or correct command or cwd.',
  }),
  command_not_executable: () => ({
    what: 'Command cannot be executed',
    todo: 'The worker process may not execute the command. Set the permissions of its file.',
  }),
  exited: (code) => ({
    what: code === null ? 'Process ended' : `Process ended with exit code ${code}`,
    todo: code === 137 ? `It was killed, often because memory ran out. ${stderr}` : stderr,
  }),
  refused: () => ({
    what: 'Connection refused',
    todo: 'No process listens at the address. Start the server, or correct the port of its URL.',
  }),
  host_not_found: () => ({
    what: 'Host not found',
    todo: 'The host name of its URL cannot be resolved. Correct the URL, or check the name server.',
  }),
  host_unreachable: () => ({
    what: 'Host unreachable',
    todo: 'There is no route to the host. Check the network of the worker process.',
  }),
  tls_error: () => ({
    what: 'No secure connection',
    todo: 'Its certificate is not trusted or has expired, or the server does not use TLS. Renew the certificate, or set NODE_EXTRA_CA_CERTS.',
  }),
  unauthorized: (code) => ({
    what: `Access denied${ofStatus(code)}`,
    todo: 'Correct the key in the headers of the server in the config file.',
  }),
  http_error: (code) => ({ what: `Refused by HTTP${ofStatus(code)}`, todo: adviceFor(code ?? 0) }),
  timed_out: () => ({
    what: 'No answer in time',
    todo: 'It did not start within start_timeout_ms, or did not answer a ping. Check whether it hangs, or raise start_timeout_ms.',
  }),
  protocol_error: () => ({
    what: 'Invalid answer',
    todo: 'It answered with an error, or not in the protocol. Check that its command or URL belongs to an MCP server.',
  }),
  lost: () => ({
    what: 'Connection lost',
    todo: 'The worker process connects again. If this happens often, check the server and the network.',
  }),
  other: () => ({ what: 'Connection failed', todo: log }),
};

function ofStatus(code: number | null): string {
  return code === null ? '' : ` (${code})`;
}

function adviceFor(status: number): string {
  if (status === 404) return 'The path of its URL does not exist, or the server has forgotten the session.';
  if (status >= 500) return 'The server, or a gateway before it, has a fault. Read its log.';
  if (status >= 300 && status < 400)
    return 'It redirects to another origin, which is not followed. Set the URL of its destination.';
  return 'Check its URL and its headers in the config file.';
}

const scopes: Readonly<Record<NonNullable<McpServerInfo['scope']>, string>> = {
  shared: 'shared',
  tenant: 'one per tenant',
  context: 'one per context',
};

/** Why the tools of a server are not listed. `unknown`: the API process does not know who shares an instance. */
const toolsUnknown: Readonly<Record<NonNullable<McpServerInfo['scope']> | 'unknown', string>> = {
  shared:
    'This API process has no connection to the server. It lists the tools once it has one; if other processes run the jobs, it has none. Tools that models were offered are under Tools.',
  tenant:
    'Each tenant has an instance of its own, which starts with the first job that needs it. The API has none, so the tools are not listed here. Tools that models of your tenant were offered are under Tools.',
  context:
    'Each context has an instance of its own, which starts with the first job that needs it. The API has none, so the tools are not listed here. Tools that models of your tenant were offered are under Tools.',
  unknown:
    'The server is not in the config file of this API process: only worker processes know its tools. Tools that models were offered are under Tools.',
};

export const mcpServerWords = {
  none: 'No MCP servers',
  noneAbout: 'Configure them as {setting} in {file}.',
  states,
  scopes,
  toolsUnknown,
  failures,
  lastFailure: 'Last failure',
  /** `host`: of the worker process. */
  where: '{when}, on {host}',
  figures: (server: string) => `Figures of ${server}`,
  restarts: 'Reconnections',
  calls: 'Calls',
  /** `calls`: by outcome, of the live worker processes. */
  callsBy(calls: Readonly<Record<string, number>>): string {
    const outcomes = Object.entries(calls)
      .filter(([, amount]) => amount > 0)
      .sort(([a, ofA], [b, ofB]) => ofB - ofA || (a < b ? -1 : 1));
    const all = outcomes.reduce((sum, [, amount]) => sum + amount, 0);
    if (all === 0) return 'none yet';
    const texts = outcomes.map(([outcome, amount]) => count(amount, outcome, outcome).replaceAll('_', ' '));
    return outcomes.length === 1 ? texts.join() : `${count(all, 'call', 'calls')}: ${texts.join(', ')}`;
  },
  latency: 'Latency',
  quantiles: (median: string, p95: string) => `median ${median}, p95 ${p95}`,
  noLatency: 'unknown',
} as const;
