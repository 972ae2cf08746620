/**
 * A response whose body is read chunk by chunk from the network, without a web stream in between. The SDKs use only
 * the status, the headers and, for errors, the text; answers are read by our code.
 */

/** A part of the body; network errors are values. */
type Read = { kind: 'chunk'; bytes: Uint8Array } | { kind: 'end' } | { kind: 'threw'; error: unknown };

/** The source of bytes, with backpressure. */
export type Flow = { pause(): void; resume(): void };

/** The destination of bytes. */
export type Sink = { take(bytes: Uint8Array): void; takeEnd(): void; takeError(error: unknown): void };

/** Buffered bytes after which the network is paused. */
const BUFFERED_BYTES = 65_536;

const END: Read = { kind: 'end' };

/**
 * Has one reader, which keeps a reference while it reads: the SDKs detach their abort signal when the response is
 * collected.
 */
export class LiveResponse extends Response implements Sink {
  readonly #flow: Flow;
  readonly #chunks: Uint8Array[] = [];
  #buffered = 0;
  #last: Read | null = null;
  #reader: ((read: Read) => void) | null = null;

  constructor(status: number, headers: Headers, flow: Flow) {
    super(null, { status, headers });
    this.#flow = flow;
  }

  /** Reads the next chunk. After the end or an error, every read returns the same result. */
  read(): Promise<Read> {
    const bytes = this.#chunks.shift();
    if (bytes !== undefined) {
      const before = this.#buffered;
      this.#buffered -= bytes.length;
      if (before > BUFFERED_BYTES && this.#buffered <= BUFFERED_BYTES) this.#flow.resume();
      return Promise.resolve({ kind: 'chunk', bytes });
    }
    if (this.#last !== null) return Promise.resolve(this.#last);
    return new Promise((resolve) => {
      this.#reader = resolve;
    });
  }

  override readonly text = async (): Promise<string> => {
    const decoder = new TextDecoder();
    let text = '';
    for (;;) {
      const read = await this.read();
      if (read.kind === 'threw') throw read.error;
      if (read.kind === 'end') return text + decoder.decode();
      text += decoder.decode(read.bytes, { stream: true });
    }
  };

  take(bytes: Uint8Array): void {
    if (this.#reader !== null) {
      this.#forward({ kind: 'chunk', bytes });
      return;
    }
    this.#chunks.push(bytes);
    this.#buffered += bytes.length;
    if (this.#buffered > BUFFERED_BYTES) this.#flow.pause();
  }

  takeEnd(): void {
    this.#finish(END);
  }

  /** Chunks that arrived before it can still be read. */
  takeError(error: unknown): void {
    this.#finish({ kind: 'threw', error });
  }

  #finish(last: Read): void {
    this.#last ??= last;
    if (this.#reader !== null) this.#forward(this.#last);
  }

  #forward(read: Read): void {
    const reader = this.#reader;
    this.#reader = null;
    reader?.(read);
  }
}
