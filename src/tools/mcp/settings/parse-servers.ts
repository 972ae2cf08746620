/** Parses the MCP servers of the config file, the only source of commands and addresses. */
import {
  entriesOf,
  fault,
  filledText,
  integer,
  list,
  members,
  oneOf,
  optional,
  required,
  text,
} from '../../config/member.ts';
import type { Member, Reader } from '../../config/member.ts';
import { APPROVALS } from '../../../core/run/policy.ts';
import { LONGEST_TIMER_MS } from '../../run/timer.ts';
import { ELICITATIONS } from './server-settings.ts';
import type { Reach, ServerSettings } from './server-settings.ts';
import { isServerName } from '../calls/names.ts';

const COMMON = ['tools', 'approval', 'elicitation', 'start_timeout_ms', 'timeout_ms', 'max_timeout_ms'];

const SHAPE = {
  what: 'an MCP server',
  known: ['command', 'args', 'env', 'cwd', 'url', 'headers', ...COMMON],
};

/** Defaults. */
const START_TIMEOUT_MS = 20_000;
const TIMEOUT_MS = 60_000;
const MAX_TIMEOUT_MS = 600_000;

/** By name. */
export function parseServers(member: Member): Map<string, ServerSettings> {
  const servers = new Map<string, ServerSettings>();
  for (const entry of entriesOf(member) ?? []) {
    const named = isServerName(entry.key)
      ? entry.key
      : fault(
          entry,
          'the name must be 1 to 32 letters, digits, "-" or "_", without "__" and not ending in "_", because tools are named name__tool',
        );
    const server = parseServer(entry.key)(entry);
    if (named !== null && server !== null) servers.set(named, server);
  }
  return servers;
}

function parseServer(name: string): Reader<ServerSettings> {
  return (member) => {
    const of = members(member, SHAPE);
    if (of === null) return null;
    const reach = parseReach(member, of);
    const allow = optional(of('tools'), list(filledText));
    const approval = optional(of('approval'), oneOf(APPROVALS));
    const elicitation = optional(of('elicitation'), oneOf(ELICITATIONS)) ?? 'decline';
    const duration = (key: string): number | null => optional(of(key), integer(1, LONGEST_TIMER_MS));
    const startTimeoutMs = duration('start_timeout_ms') ?? START_TIMEOUT_MS;
    const timeoutMs = duration('timeout_ms') ?? TIMEOUT_MS;
    const maxTimeoutMs = duration('max_timeout_ms') ?? Math.max(MAX_TIMEOUT_MS, timeoutMs);
    if (maxTimeoutMs < timeoutMs) fault(of('max_timeout_ms'), 'must not be less than timeout_ms');
    if (reach === null) return null;
    return { name, reach, allow, approval, elicitation, startTimeoutMs, timeoutMs, maxTimeoutMs };
  };
}

type Of = (name: string) => Member;

function parseReach(member: Member, of: Of): Reach | null {
  const hasCommand = of('command').value !== undefined;
  const hasUrl = of('url').value !== undefined;
  if (hasCommand === hasUrl)
    return fault(member, hasUrl ? 'has both command and url; use only one' : 'needs either command or url');
  return hasCommand ? parseStdio(of) : parseHttp(of);
}

function parseStdio(of: Of): Reach | null {
  if (of('headers').value !== undefined) fault(of('headers'), 'is only for servers with a url');
  const command = required(of('command'), filledText);
  const args = optional(of('args'), list(text)) ?? [];
  const env = optional(of('env'), texts) ?? {};
  const cwd = optional(of('cwd'), filledText);
  return command === null ? null : { kind: 'stdio', command, args, env, cwd };
}

function parseHttp(of: Of): Reach | null {
  for (const key of ['args', 'env', 'cwd']) {
    if (of(key).value !== undefined) fault(of(key), 'is only for servers with a command');
  }
  const url = required(of('url'), httpUrl);
  const headers = optional(of('headers'), texts) ?? {};
  if (!isHeaders(headers)) fault(of('headers'), 'contains an invalid header name or value');
  return url === null ? null : { kind: 'http', url, headers };
}

function httpUrl(member: Member): string | null {
  const { value } = member;
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : null;
  const isUsable = url !== null && ['http:', 'https:'].includes(url.protocol) && url.username === '';
  return isUsable ? url.href : fault(member, 'must be an http or https URL, without a user name');
}

/** An object of strings. */
function texts(member: Member): Record<string, string> {
  const read: Record<string, string> = {};
  for (const entry of entriesOf(member) ?? []) {
    const value = text(entry);
    if (value !== null) read[entry.key] = value;
  }
  return read;
}

function isHeaders(headers: Record<string, string>): boolean {
  try {
    void new Headers(headers);
    return true;
  } catch {
    return false;
  }
}
