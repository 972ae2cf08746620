/** What an operator says of `run_command`. */

/**
 * `process`: a child of the worker process, with its user's rights. `container`: by Docker, in `image`, with the workspace and
 * nothing else of this machine. `allow`: globs (`*`) of commands as they are asked for; null: any.
 */
export type RunCommandLimits = {
  runner: 'process' | 'container';
  image: string;
  allow: readonly string[] | null;
  /** The longest a command may take, in seconds. */
  timeoutS: number;
  /** Of each of both streams. */
  outputBytes: number;
  /** Beside what every command has. */
  env: Readonly<Record<string, string>>;
  /** Of a container. */
  memoryMb: number;
  processes: number;
};

export const RUN_COMMAND_DEFAULTS: RunCommandLimits = {
  runner: 'process',
  image: '',
  allow: null,
  timeoutS: 600,
  outputBytes: 50_000,
  env: {},
  memoryMb: 512,
  processes: 256,
};
