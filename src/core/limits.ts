/** Limits that hold unless the operator's file or a worker's config says otherwise. Sizes are in UTF-16 units. */
export const LIMITS = {
  /** Queued inputs of one context; more are refused with `queue_full`. */
  queuedInputs: 1_000,
  /** Model calls of one job; then it ends `incomplete`. */
  maxSteps: 1_000,
  /** Characters of one tool result; the rest is cut with a note. */
  toolResult: 200_000,
  /** Milliseconds a tool may take. */
  toolTimeoutMs: 10 * 60 * 1_000,
  /** Claims in a row that brought nothing forward; then the job fails with `crash_loop`. */
  barrenClaims: 5,
} as const;
