/** The longest timer: `watch.ts` handles timeouts, not the SDK. */
export const SDK_TIMEOUT_MS = 2 ** 31 - 1;
