/** Limits that hold unless the config file or a worker's config says otherwise. Sizes are in UTF-16 units. */
export const LIMITS = {
  /** Queued inputs of one context; more are refused with `queue_full`. */
  queuedInputs: 1_000,
  /** Branches of one context. */
  branches: 500,
  /** Model calls of one job; then it ends `incomplete`. */
  maxSteps: 1_000,
  /** Characters of one tool result; the rest is cut with a note. */
  toolResult: 200_000,
  /** Milliseconds a tool may take. */
  toolTimeoutMs: 10 * 60 * 1_000,
  /** Bytes of messages since the last summary, as stored, that a worker process reads at once. */
  historyBytes: 256 * 1024 * 1024,
  /** Of a longer history: bytes of its beginning, as stored, that one summary covers. */
  beginningBytes: 64 * 1024 * 1024,
  /**
   * Bytes of messages, as stored, that the transaction of a claim reads. It holds locks, and PostgreSQL ends it when its process
   * is silent for a second: a longer history is read after the commit.
   */
  claimBytes: 8 * 1024 * 1024,
  /** Bytes of inputs, as stored, that join a running job at once; one that is longer joins alone. */
  joiningBytes: 8 * 1024 * 1024,
  /** Bytes of messages, as stored, of a prompt that is shown to a client. */
  shownPromptBytes: 16 * 1024 * 1024,
  /** Claims in a row that brought nothing forward; then the job fails with `crash_loop`. */
  failedClaims: 5,
  /** Seconds that a person may be given to say what became of a call: ten years. */
  outcomeWaitS: 10 * 365 * 86_400,
  /** Workers that pass on what one input brought about, one to the next; more may not be sent. */
  hops: 16,
  /** Messages that one worker may send to others within a minute. */
  messagesPerMinute: 60,
  /** Depth of a worker, where 0 has no parent; children of one worker; workers of one tree at work at once. */
  workerDepth: 8,
  workerChildren: 1_000,
  workersInTree: 10_000,
  /** Seconds of an idle timeout: ten years. */
  idleTimeoutS: 10 * 365 * 86_400,
} as const;
