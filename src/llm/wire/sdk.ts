/** As long as a timer can be: the watch decides what takes too long, never the SDK. */
export const SDK_TIMEOUT_MS = 2 ** 31 - 1;
