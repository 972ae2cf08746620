/** What an operator says of `run_command`. */

/**
 * `container`: by Docker, in `image`, with the workspace and nothing else of this machine. `bubblewrap`: in Linux namespaces of
 * its own, with the workspace and this machine's programs. `process`: a child of the worker process, with its user's rights.
 */
export const RUNNERS = ['container', 'bubblewrap', 'process'] as const;
export type Runner = (typeof RUNNERS)[number];

/** `allow`: globs (`*`) of commands as they are asked for; null: any. */
export type RunCommandLimits = {
  runner: Runner;
  /** Of `container`. */
  image: string;
  /** Of `bubblewrap`: folders of this machine that commands may read, beside `/usr` and what programs need of `/etc`. */
  readOnly: readonly string[];
  /** Of `process`: whose commands may run so. */
  tenants: readonly string[];
  allow: readonly string[] | null;
  /** The longest a command may take, in seconds. */
  timeoutS: number;
  /** Of each of both streams. */
  outputBytes: number;
  /** Beside what every command has. */
  env: Readonly<Record<string, string>>;
  /** Of a command and all that it starts. */
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
