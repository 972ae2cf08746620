/** The MCP servers of the config file, the only source of commands and addresses. */
import { Type, type Static } from 'typebox';
import { APPROVALS } from '../../../core/run/policy.ts';
import { integer, oneOf, partial } from '../../../schema/build.ts';
import { faultAt, type Fault, type Path } from '../../../schema/fault.ts';
import { FilledText, byName, formatted } from '../../config/file-validator.ts';
import type { Pruned } from '../../config/prune.ts';
import type { WrittenMembers } from '../../config/written.ts';
import { LONGEST_TIMER_MS } from '../../run/timer.ts';
import { SERVER_SCOPES } from '../../../core/tools/server-scope.ts';
import { ELICITATIONS, type ServerSettings } from './server-settings.ts';

const Duration = integer(1, LONGEST_TIMER_MS);

const common = {
  /** Who shares an instance of the server: all (the default), the contexts of a tenant, or no two contexts. */
  scope: oneOf(SERVER_SCOPES),
  /** For `tenant` and `context`: how long an unused instance keeps running, in milliseconds: 600000. */
  idle_timeout_ms: integer(1_000, LONGEST_TIMER_MS),
  /** For `tenant` and `context`: instances that run at once in a worker process: 100. */
  max_instances: integer(1, 10_000),
  /** Which of its tools are offered: the server's own names, with `*` as wildcard. Default: all. */
  tools: Type.Array(FilledText),
  /** Whether its tools need approval. Default: according to each tool's annotations. */
  approval: oneOf(APPROVALS),
  /** The answer when the server asks a person: decline (default), or the default values of its question. */
  elicitation: oneOf(ELICITATIONS),
  /** Whether each call has in `_meta` whose it is, and the metadata of the job: true. */
  send_caller: Type.Boolean(),
  /** Milliseconds until the server must have listed its tools: 20000. */
  start_timeout_ms: Duration,
  /** Milliseconds that a call may take without reporting progress: 60000. */
  timeout_ms: Duration,
  /** Milliseconds that a call may take in total: 600000. */
  max_timeout_ms: Duration,
};

const ofCommand = {
  args: Type.Array(Type.String()),
  /** The environment of the server, in addition to PATH, HOME and similar variables. */
  env: byName(Type.String(), Type.String()),
  /** Default: the working directory of the worker process. */
  cwd: FilledText,
};

const ofUrl = { headers: byName(Type.String(), Type.String()) };

/** A child process that communicates over stdin and stdout, or a server reached over streamable HTTP. */
export type McpServerDefinition = WrittenMembers<typeof common> &
  (
    | (WrittenMembers<typeof ofCommand> & {
        /** Started without a shell. */
        command: string;
        url?: undefined;
      })
    | (WrittenMembers<typeof ofUrl> & { url: string; command?: undefined })
  );

/** Either `command` or `url`: see `serverFaults`. */
const Server = partial({ command: FilledText, ...ofCommand, url: formatted('url'), ...ofUrl, ...common });
type Server = Static<typeof Server>;

/** By name. */
export const Servers = byName(formatted('server'), Server);

/** Defaults. */
const START_TIMEOUT_MS = 20_000;
const TIMEOUT_MS = 60_000;
const MAX_TIMEOUT_MS = 600_000;
const IDLE_TIMEOUT_MS = 600_000;
const MAX_INSTANCES = 100;

/** What the schema cannot express. `written`: the names of the fields, also of faulty ones. */
export function serverFaults(server: Pruned<Server>, written: readonly string[], at: Path): Fault[] {
  const [hasCommand, hasUrl] = [written.includes('command'), written.includes('url')];
  const { timeout_ms: least = TIMEOUT_MS, max_timeout_ms: most, headers } = server;
  if (hasCommand === hasUrl) {
    const problem = hasUrl ? 'has both command and url; use only one' : 'needs either command or url';
    return [faultAt(at, problem)];
  }
  const misplaced = Object.keys(hasCommand ? ofUrl : ofCommand).filter((name) => written.includes(name));
  const only = `is only for servers with a ${hasCommand ? 'url' : 'command'}`;
  const { scope = 'shared' } = server;
  const ofInstances = scope === 'shared' ? ['idle_timeout_ms', 'max_instances'] : [];
  return [
    ...misplaced.map((name) => faultAt([...at, name], only)),
    ...ofInstances
      .filter((name) => written.includes(name))
      .map((name) => faultAt([...at, name], 'is only for servers with the scope tenant or context')),
    ...(hasCommand || isHeaders(headers)
      ? []
      : [faultAt([...at, 'headers'], 'contains an invalid header name or value')]),
    ...(most !== undefined && most < least
      ? [faultAt([...at, 'max_timeout_ms'], 'must not be less than timeout_ms')]
      : []),
  ];
}

export function toServers(servers: Static<typeof Servers>): Map<string, ServerSettings> {
  return new Map(Object.entries(servers).map(([name, server]) => [name, toServer(name, server)]));
}

function toServer(name: string, server: Server): ServerSettings {
  const { command, args = [], env = {}, cwd = null, url = '', headers = {} } = server;
  const { tools: allow = null, approval = null, elicitation = 'decline', send_caller: sendsCaller = true } = server;
  const { start_timeout_ms: startTimeoutMs = START_TIMEOUT_MS, timeout_ms: timeoutMs = TIMEOUT_MS } = server;
  const maxTimeoutMs = server.max_timeout_ms ?? Math.max(MAX_TIMEOUT_MS, timeoutMs);
  const reach =
    command === undefined
      ? ({ kind: 'http', url: new URL(url).href, headers } as const)
      : ({ kind: 'stdio', command, args, env, cwd } as const);
  const { scope = 'shared', idle_timeout_ms: idleTimeoutMs = IDLE_TIMEOUT_MS } = server;
  const instances = { scope, idleTimeoutMs, maxInstances: server.max_instances ?? MAX_INSTANCES };
  const times = { startTimeoutMs, timeoutMs, maxTimeoutMs };
  return { name, ...instances, reach, allow, approval, elicitation, sendsCaller, ...times };
}

function isHeaders(headers: { [name: string]: string | undefined } = {}): boolean {
  try {
    void new Headers(Object.entries(headers).map(([name, value = '']) => [name, value]));
    return true;
  } catch {
    return false;
  }
}
