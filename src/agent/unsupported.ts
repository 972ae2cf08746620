/**
 * How long a context that this process does not support is left to other processes before it is checked again, in
 * milliseconds.
 */
export const UNSUPPORTED_MS = 1_000;
