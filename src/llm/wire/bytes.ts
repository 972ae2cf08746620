/** The bytes of a body one chunk at a time, with what the network throws as a value. */
export type Read = { kind: 'chunk'; bytes: Uint8Array } | { kind: 'end' } | { kind: 'threw'; error: unknown };

export type Bytes = { read(): Promise<Read> };
