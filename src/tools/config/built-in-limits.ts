/** The settings of built-in tools in `limits`. Missing ones get their defaults. */
import { Type, type Static } from 'typebox';
import { integer, oneOf, partial } from '../../schema/build.ts';
import { faultAt, type Fault, type Path } from '../../schema/fault.ts';
import { FILE_LIMITS } from '../built-in/files/limits.ts';
import { HTTP_FETCH_DEFAULTS } from '../built-in/http/limits.ts';
import { RUNNERS, RUN_COMMAND_DEFAULTS } from '../built-in/command/limits.ts';
import { APPROVALS } from '../../core/run/policy.ts';
import { camelNames } from './camel.ts';
import { defined } from './defined.ts';
import { FilledText, byName, formatted } from './file-validator.ts';
import type { Pruned } from './prune.ts';
import type { WrittenMembers } from './written.ts';

const MOST_BYTES = 1_000_000_000;

const httpFetch = {
  /** Whether its calls need approval. Default: those with another method than GET and HEAD do. */
  approval: oneOf(APPROVALS),
  /** Host names, addresses and networks (`10.0.0.0/8`) that are allowed although they are not public. */
  allow: Type.Array(formatted('host')),
  /** Time limit of a request in milliseconds, including redirects: 30000. */
  timeout_ms: integer(1, 600_000),
  /** Bytes of a body that are shown: 100000. */
  body_bytes: integer(1, MOST_BYTES),
  /** Bytes of a body beyond which the request fails: 5000000. */
  download_bytes: integer(1, MOST_BYTES),
  /** Redirects that are followed: 5. */
  redirects: integer(0, 20),
};

const files = {
  /** Maximum bytes of one file: 1000000. */
  file_bytes: integer(1, MOST_BYTES),
  /** Maximum bytes of one workspace on disk: 100000000. */
  total_bytes: integer(1, 1_000 * MOST_BYTES),
  /** Maximum number of files and directories in one workspace: 10000. */
  entries: integer(1, 1_000_000),
};

const runCommand = {
  /** Whether its calls need approval: always. */
  approval: oneOf(APPROVALS),
  /**
   * `container` (default): in a Docker container with only the workspace. `bubblewrap`: in separate Linux namespaces,
   * with the programs of this machine. `process`: no sandbox, with the rights of the worker process.
   */
  runner: oneOf(RUNNERS),
  /** For `container`: the image. Default: debian:bookworm-slim. */
  image: formatted('image'),
  /** For `bubblewrap`: additional absolute paths that commands may read, besides /usr and parts of /etc. */
  read_only: Type.Array(formatted('folder')),
  /**
   * For `process`: the tenants whose commands may run. Optional only for `start` with its own services and without
   * keys.
   */
  tenants: Type.Array(FilledText),
  /** Globs (`*`) of allowed commands. Default: any. */
  allow: Type.Array(FilledText),
  /** Maximum run time of a command in seconds: 600. */
  timeout_s: integer(1, 86_400),
  /** Bytes shown of each of stdout and stderr: 50000. */
  output_bytes: integer(1, 10_000_000),
  /** Environment variables in addition to PATH, HOME, LANG and TMPDIR. */
  env: byName(formatted('variable'), formatted('no-nul')),
  /** For a command and all its child processes: 512 megabytes, 256 processes. */
  memory_mb: integer(6, 1_000_000),
  processes: integer(1, 100_000),
};

export const builtInLimits = {
  http_fetch: partial(httpFetch),
  files: partial(files),
  run_command: partial(runCommand),
};
type BuiltInLimits = { [Name in keyof typeof builtInLimits]?: Static<(typeof builtInLimits)[Name]> };

export type BuiltInLimitDefinitions = {
  http_fetch?: WrittenMembers<typeof httpFetch> | undefined;
  /** Workspaces. */
  files?: WrittenMembers<typeof files> | undefined;
  run_command?: WrittenMembers<typeof runCommand> | undefined;
};

/** Fields that apply to one runner only. */
const OF_RUNNER = { image: 'container', read_only: 'bubblewrap', tenants: 'process' } as const;

/** A field that the runner does not use. */
export function runnerFaults(given: Pruned<BuiltInLimits>['run_command'], at: Path): Fault[] {
  const runner = given?.runner ?? RUN_COMMAND_DEFAULTS.runner;
  return Object.entries(OF_RUNNER)
    .filter(([name, only]) => runner !== only && given !== undefined && name in given)
    .map(([name, only]) => faultAt([...at, name], `is only for runner: '${only}'`));
}

export function toBuiltInLimits({ http_fetch, files: workspaces, run_command }: BuiltInLimits) {
  return defined({
    httpFetch: http_fetch && { ...HTTP_FETCH_DEFAULTS, ...camelNames(http_fetch) },
    files: workspaces && { ...FILE_LIMITS, ...camelNames(workspaces) },
    runCommand: run_command && { ...RUN_COMMAND_DEFAULTS, ...camelNames(run_command) },
  });
}
