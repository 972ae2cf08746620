/** Default limits; the config file or a worker's config may override some. Text sizes are in UTF-16 code units. */
export const LIMITS = {
  /** Queued inputs of one context; further inputs are refused with `queue_full`. */
  queuedInputs: 1_000,
  /** Branches of one context. */
  branches: 500,
  /** Model calls of one job; then it ends as `incomplete`. */
  maxSteps: 1_000,
  /** Characters of one tool result; the rest is cut off, with a note. */
  toolResult: 200_000,
  /** Milliseconds one tool execution may take. */
  toolTimeoutMs: 10 * 60 * 1_000,
  /** Stored bytes of messages since the last summary that a worker process reads at once. */
  historyBytes: 256 * 1024 * 1024,
  /** For a longer history: stored bytes of its beginning that one summary covers. */
  beginningBytes: 64 * 1024 * 1024,
  /**
   * Stored bytes of messages that a claim's transaction reads. The transaction holds locks, and PostgreSQL ends it
   * when its process is silent for one second, so a longer history is read after the commit.
   */
  claimBytes: 8 * 1024 * 1024,
  /** The same, of all contexts that one transaction claims: large ones of one tenant do not hold up those of others. */
  sharedBytes: 1024 * 1024,
  /** Stored bytes of inputs that join a running job at once; a larger input joins alone. */
  joiningBytes: 8 * 1024 * 1024,
  /** Stored bytes of messages in a prompt shown to a client. */
  shownPromptBytes: 16 * 1024 * 1024,
  /** Consecutive claims without progress; then the job fails with `crash_loop`. */
  failedClaims: 5,
  /** Longest time in seconds that a person may have to report the outcome of a call: ten years. */
  outcomeWaitS: 10 * 365 * 86_400,
  /** Maximum length of a chain of messages between workers that one input starts. */
  hops: 16,
  /** Messages that one worker may send to others per minute. */
  messagesPerMinute: 60,
  /** Depth of a worker (0: no parent); children of one worker; active workers of one tree. */
  workerDepth: 8,
  workerChildren: 1_000,
  workersInTree: 10_000,
  /** Maximum idle timeout in seconds: ten years. */
  idleTimeoutS: 10 * 365 * 86_400,
} as const;
