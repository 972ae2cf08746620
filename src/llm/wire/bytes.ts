/** The bytes of a body one chunk at a time, with what the network throws as a value. */
export type Read = { kind: 'chunk'; bytes: Uint8Array } | { kind: 'end' } | { kind: 'threw'; error: unknown };

export type Bytes = { read(): Promise<Read> };

export function bytesOf(response: Response): Bytes {
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = response.body?.getReader();
  return {
    async read() {
      try {
        const read = await reader?.read();
        return read?.value === undefined ? { kind: 'end' } : { kind: 'chunk', bytes: read.value };
      } catch (error) {
        return { kind: 'threw', error };
      }
    },
  };
}
