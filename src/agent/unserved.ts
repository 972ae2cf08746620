/** How long a context that this process cannot serve is left to others before anybody looks again, in milliseconds. */
export const UNSERVED_MS = 1_000;
