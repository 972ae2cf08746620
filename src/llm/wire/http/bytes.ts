/** Reads a body chunk by chunk; network errors are returned as values. */
export type Read = { kind: 'chunk'; bytes: Uint8Array } | { kind: 'end' } | { kind: 'threw'; error: unknown };

export type Bytes = { read(): Promise<Read> };
