/** Types of `limits` in `nightshift.config.ts`. Defaults are given in the comments. */

/** Sizes are in UTF-16 units. */
export type LimitDefinitions = {
  /** Queued inputs of one context. */
  queued_inputs?: number | undefined;
  /** Model calls of one job. */
  max_steps?: number | undefined;
  /** Characters of one tool result; longer ones are truncated with a note. */
  tool_result?: number | undefined;
  /** Milliseconds until a tool call times out. */
  tool_timeout_ms?: number | undefined;
  /** Seconds that a call waits for approval. Default: no limit. */
  approval_timeout_s?: number | undefined;
  /** The decision after that time. Default: deny. */
  approval_default?: 'approve' | 'deny' | undefined;
  /** Seconds that questions and calls of client tools wait for their answer. Default: no limit. */
  answer_timeout_s?: number | undefined;
  /**
   * Seconds to wait for a person to resolve an unknown outcome; then the model is told that it is unknown. Default: no
   * limit.
   */
  outcome_timeout_s?: number | undefined;
  /** Maximum depth of a worker tree below its root: 8. */
  depth?: number | undefined;
  /** Children of one worker: 1,000. */
  children?: number | undefined;
  /** Active workers of one tree: 10,000. */
  workers?: number | undefined;
  /** Active workers of one tenant. Default: no limit. */
  tenant_workers?: number | undefined;
  /** Maximum length of a chain of messages between workers that starts with one input: 16. */
  hops?: number | undefined;
  /** Messages that one worker may send to others per minute: 60. */
  messages_per_minute?: number | undefined;
  /** Additional provider parameters that configs may set: `['service_tier']`. */
  parameters?: readonly string[] | undefined;
  retention?: RetentionDefinition | undefined;
  http_fetch?: HttpFetchDefinition | undefined;
  files?: FilesDefinition | undefined;
  run_command?: RunCommandDefinition | undefined;
};

/** Settings of the built-in tool `http_fetch`. */
type HttpFetchDefinition = {
  /** Host names, addresses and networks (`10.0.0.0/8`) that are allowed although they are not public. */
  allow?: readonly string[] | undefined;
  /** Time limit of a request in milliseconds, including redirects: 30000. */
  timeout_ms?: number | undefined;
  /** Bytes of a body that are shown: 100000. */
  body_bytes?: number | undefined;
  /** Bytes of a body beyond which the request fails: 5000000. */
  download_bytes?: number | undefined;
  /** Redirects that are followed: 5. */
  redirects?: number | undefined;
};

/** Settings of workspaces. */
type FilesDefinition = {
  /** Maximum bytes of one file: 1000000. */
  file_bytes?: number | undefined;
  /** Maximum bytes of one workspace on disk: 100000000. */
  total_bytes?: number | undefined;
  /** Maximum number of files and directories in one workspace: 10000. */
  entries?: number | undefined;
};

/** Settings of the built-in tool `run_command`. */
type RunCommandDefinition = {
  /**
   * `container` (default): in a Docker container with only the workspace. `bubblewrap`: in separate Linux namespaces,
   * with the programs of this machine. `process`: no sandbox, with the rights of the worker process.
   */
  runner?: 'container' | 'bubblewrap' | 'process' | undefined;
  /** For `container`: the image. Default: debian:bookworm-slim. */
  image?: string | undefined;
  /** For `bubblewrap`: additional absolute paths that commands may read, besides /usr and parts of /etc. */
  read_only?: readonly string[] | undefined;
  /**
   * For `process`: the tenants whose commands may run. Optional only for `start` with its own services and without
   * keys.
   */
  tenants?: readonly string[] | undefined;
  /** Globs (`*`) of allowed commands. Default: any. */
  allow?: readonly string[] | undefined;
  /** Maximum run time of a command in seconds: 600. */
  timeout_s?: number | undefined;
  /** Bytes shown of each of stdout and stderr: 50000. */
  output_bytes?: number | undefined;
  /** Environment variables in addition to PATH, HOME, LANG and TMPDIR. */
  env?: Readonly<Record<string, string>> | undefined;
  /** For a command and all its child processes: 512 megabytes, 256 processes. */
  memory_mb?: number | undefined;
  processes?: number | undefined;
};

/** Default: nothing is purged. */
type RetentionDefinition = {
  /** Days after which an archived context is deleted permanently. */
  archived_days?: number | undefined;
};
