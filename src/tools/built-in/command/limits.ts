/** The operator's settings of `run_command`. */

/**
 * `container`: in a Docker container from `image`, with only the workspace. `bubblewrap`: in separate Linux namespaces,
 * with the workspace and the programs of this machine. `process`: a child of the worker process, with the rights of its
 * user.
 */
export const RUNNERS = ['container', 'bubblewrap', 'process'] as const;
type Runner = (typeof RUNNERS)[number];

/** `allow`: globs (`*`) of permitted command names; null: any. */
export type RunCommandLimits = {
  runner: Runner;
  /** For `container`. */
  image: string;
  /** For `bubblewrap`: additional folders that commands may read, besides `/usr` and parts of `/etc`. */
  readOnly: readonly string[];
  /** For `process`: the tenants whose commands may run unsandboxed. */
  tenants: readonly string[];
  allow: readonly string[] | null;
  /** The maximum run time of a command, in seconds. */
  timeoutS: number;
  /** For each of stdout and stderr. */
  outputBytes: number;
  /** Additional environment variables of every command. */
  env: Readonly<Record<string, string>>;
  /** For a command and all its child processes. */
  memoryMb: number;
  processes: number;
};

export const RUN_COMMAND_DEFAULTS: RunCommandLimits = {
  runner: 'container',
  image: 'debian:bookworm-slim',
  readOnly: [],
  tenants: [],
  allow: null,
  timeoutS: 600,
  outputBytes: 50_000,
  env: {},
  memoryMb: 512,
  processes: 256,
};
