/** What an operator writes of limits in `nightshift.config.ts`. What is not given holds as it is said beside it. */

/** Sizes are in UTF-16 units. */
export type LimitDefinitions = {
  /** Queued inputs of one context. */
  queued_inputs?: number | undefined;
  /** Model calls of one job. */
  max_steps?: number | undefined;
  /** Characters of one tool result; the rest is cut, with a note. */
  tool_result?: number | undefined;
  /** Milliseconds a tool may take. */
  tool_timeout_ms?: number | undefined;
  /** Seconds that a call waits for approval. Without it: for as long as it takes. */
  approval_timeout_s?: number | undefined;
  /** The decision where nobody gave one in that time. Without it: deny. */
  approval_default?: 'approve' | 'deny' | undefined;
  /** Seconds that questions, and tools that clients run, wait for their answer. Without it: for as long as it takes. */
  answer_timeout_s?: number | undefined;
  /** Seconds that a person has to say what became of a call; then the model is told that nobody knows. Without it: no end. */
  outcome_timeout_s?: number | undefined;
  /** How deep workers may be below one that no worker made: 8. */
  depth?: number | undefined;
  /** Children of one worker: 1,000. */
  children?: number | undefined;
  /** Workers of one tree that are at work at once: 10,000. */
  workers?: number | undefined;
  /** Workers of one tenant that are at work at once; without it there is no limit. */
  tenant_workers?: number | undefined;
  /** Workers that pass on what one input brought about, one to the next: 16. */
  hops?: number | undefined;
  /** Messages that one worker may send to others within a minute: 60. */
  messages_per_minute?: number | undefined;
  /** Parameters that configs may set and providers are given, besides the usual ones: `['service_tier']`. */
  parameters?: readonly string[] | undefined;
  retention?: RetentionDefinition | undefined;
  http_fetch?: HttpFetchDefinition | undefined;
  files?: FilesDefinition | undefined;
  run_command?: RunCommandDefinition | undefined;
};

/** Of the built-in tool `http_fetch`. */
export type HttpFetchDefinition = {
  /** Host names, addresses and networks (`10.0.0.0/8`) that may be asked although they are not public. */
  allow?: readonly string[] | undefined;
  /** Milliseconds that a request may take, with all its redirects: 30000. */
  timeout_ms?: number | undefined;
  /** Bytes of a body that are shown: 100000. */
  body_bytes?: number | undefined;
  /** Bytes of a body beyond which it is an error: 5000000. */
  download_bytes?: number | undefined;
  /** Redirects that are followed: 5. */
  redirects?: number | undefined;
};

/** Of workspaces. */
export type FilesDefinition = {
  /** Bytes of one file: 1000000. */
  file_bytes?: number | undefined;
  /** Bytes of one workspace, as they lie on disk: 100000000. */
  total_bytes?: number | undefined;
  /** Files and directories of one workspace: 10000. */
  entries?: number | undefined;
};

/** Of the built-in tool `run_command`. */
export type RunCommandDefinition = {
  /**
   * `container` (the default): by Docker, with the workspace alone. `bubblewrap`: in Linux namespaces of its own, with the programs
   * of this machine. `process`: no sandbox, with the rights of the worker process.
   */
  runner?: 'container' | 'bubblewrap' | 'process' | undefined;
  /** Of a container: debian:bookworm-slim. */
  image?: string | undefined;
  /** Of `bubblewrap`: absolute paths that commands may read, beside /usr and a little of /etc. */
  read_only?: readonly string[] | undefined;
  /** Of `process`: tenants whose commands may run so. Only `start` with services of its own and without keys needs none. */
  tenants?: readonly string[] | undefined;
  /** Globs (`*`) of commands that may be run; without it: any. */
  allow?: readonly string[] | undefined;
  /** Seconds that a command may take at most: 600. */
  timeout_s?: number | undefined;
  /** Bytes of each of both streams that are shown: 50000. */
  output_bytes?: number | undefined;
  /** Variables beside PATH, HOME, LANG and TMPDIR. */
  env?: Readonly<Record<string, string>> | undefined;
  /** Of a command and all that it starts: 512 megabytes, 256 processes. */
  memory_mb?: number | undefined;
  processes?: number | undefined;
};

/** Without it nothing is purged. */
export type RetentionDefinition = {
  /** Days after which an archived context is removed for good. */
  archived_days?: number | undefined;
};
