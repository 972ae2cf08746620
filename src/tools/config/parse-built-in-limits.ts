/** Parses the settings of built-in tools in `limits`. Missing ones get their defaults. */
import path from 'node:path';
import { FILE_LIMITS } from '../built-in/files/limits.ts';
import type { FileLimits } from '../built-in/files/limits.ts';
import { parseCidr } from '../built-in/http/addresses.ts';
import { HTTP_FETCH_DEFAULTS } from '../built-in/http/limits.ts';
import type { HttpFetchLimits } from '../built-in/http/limits.ts';
import { RUNNERS, RUN_COMMAND_DEFAULTS } from '../built-in/command/limits.ts';
import type { RunCommandLimits } from '../built-in/command/limits.ts';
import { entriesOf, fault, filledText, integer, list, members, oneOf, optional, text } from './member.ts';
import type { Member } from './member.ts';

const MOST_BYTES = 1_000_000_000;

const HTTP_FETCH = {
  what: 'http_fetch',
  known: ['allow', 'timeout_ms', 'body_bytes', 'download_bytes', 'redirects'],
};

export function parseHttpFetch(member: Member): HttpFetchLimits | null {
  const of = members(member, HTTP_FETCH);
  if (of === null) return null;
  const otherwise = HTTP_FETCH_DEFAULTS;
  const downloadBytes = optional(of('download_bytes'), integer(1, MOST_BYTES)) ?? otherwise.downloadBytes;
  return {
    allow: optional(of('allow'), list(hostOrNetwork)) ?? otherwise.allow,
    timeoutMs: optional(of('timeout_ms'), integer(1, 600_000)) ?? otherwise.timeoutMs,
    bodyBytes: optional(of('body_bytes'), integer(1, MOST_BYTES)) ?? otherwise.bodyBytes,
    downloadBytes,
    redirects: optional(of('redirects'), integer(0, 20)) ?? otherwise.redirects,
  };
}

function hostOrNetwork(member: Member): string | null {
  const { value } = member;
  if (typeof value !== 'string') return fault(member, 'must be a string');
  const isHost = /^(?!-)[a-z0-9-]+(?:\.[a-z0-9-]+)*$/i.test(value) && !/^[\d.]+$/.test(value);
  return isHost || parseCidr(value) !== null
    ? value
    : fault(member, 'must be a host name, an address, or a network such as 10.0.0.0/8');
}

const FILES = { what: 'files', known: ['file_bytes', 'total_bytes', 'entries'] };

export function parseFiles(member: Member): FileLimits | null {
  const of = members(member, FILES);
  if (of === null) return null;
  return {
    fileBytes: optional(of('file_bytes'), integer(1, MOST_BYTES)) ?? FILE_LIMITS.fileBytes,
    totalBytes: optional(of('total_bytes'), integer(1, 1_000 * MOST_BYTES)) ?? FILE_LIMITS.totalBytes,
    entries: optional(of('entries'), integer(1, 1_000_000)) ?? FILE_LIMITS.entries,
  };
}

const RUN_COMMAND = {
  what: 'run_command',
  known: [
    'runner',
    'image',
    'read_only',
    'tenants',
    'allow',
    'timeout_s',
    'output_bytes',
    'env',
    'memory_mb',
    'processes',
  ],
};

/** Fields that apply to one runner only. */
const OF_RUNNER = { image: 'container', read_only: 'bubblewrap', tenants: 'process' } as const;

export function parseRunCommand(member: Member): RunCommandLimits | null {
  const of = members(member, RUN_COMMAND);
  if (of === null) return null;
  const otherwise = RUN_COMMAND_DEFAULTS;
  const runner = optional(of('runner'), oneOf(RUNNERS)) ?? otherwise.runner;
  for (const [member, only] of Object.entries(OF_RUNNER)) {
    if (runner !== only && of(member).value !== undefined) fault(of(member), `is only for runner: '${only}'`);
  }
  return {
    runner,
    image: optional(of('image'), imageName) ?? otherwise.image,
    readOnly: optional(of('read_only'), list(absolutePath)) ?? otherwise.readOnly,
    tenants: optional(of('tenants'), list(filledText)) ?? otherwise.tenants,
    allow: optional(of('allow'), list(filledText)),
    timeoutS: optional(of('timeout_s'), integer(1, 86_400)) ?? otherwise.timeoutS,
    outputBytes: optional(of('output_bytes'), integer(1, 10_000_000)) ?? otherwise.outputBytes,
    env: optional(of('env'), variables) ?? otherwise.env,
    memoryMb: optional(of('memory_mb'), integer(6, 1_000_000)) ?? otherwise.memoryMb,
    processes: optional(of('processes'), integer(1, 100_000)) ?? otherwise.processes,
  };
}

/** Checked strictly, because it becomes an argument of the Docker CLI. */
function imageName(member: Member): string | null {
  const image = filledText(member);
  if (image === null) return null;
  return /^[\w][\w./:@-]*$/.test(image) ? image : fault(member, 'must be the name of a container image');
}

function absolutePath(member: Member): string | null {
  const place = filledText(member);
  if (place === null) return null;
  return path.isAbsolute(place) && !place.includes('\0') && path.normalize(place) !== '/'
    ? place
    : fault(member, 'must be an absolute path other than /');
}

function variables(member: Member): Record<string, string> | null {
  const entries = entriesOf(member);
  if (entries === null) return null;
  const read = entries.map((entry): [string, string] | null => {
    const value = text(entry);
    if (!/^[A-Za-z_]\w*$/.test(entry.key))
      return fault(entry, 'is not a valid name of an environment variable');
    if (value?.includes('\0') === true) return fault(entry, 'must not contain a NUL character');
    return value === null ? null : [entry.key, value];
  });
  return Object.fromEntries(read.filter((entry) => entry !== null));
}
