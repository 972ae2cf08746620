/** How long a context that this process cannot serve is left to others before anybody looks again, in milliseconds. */
export const UNSUPPORTED_MS = 1_000;
