/**
 * One Server-Sent Events stream on one connection. Events that the client has not read are buffered up to a limit.
 * Beyond it, or if the client reads nothing for too long, the connection is dropped; the client resumes with its
 * cursor.
 */
import type { ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { StreamEvent } from '../../core/stream/stream-event.ts';
import { toIso } from '../../core/time.ts';
import type { Subscriber } from '../../events/subscriber.ts';

/** Maximum number of buffered bytes for a client when the next events are sent. */
const BUFFERED = 1024 * 1024;
/** How long a client may read nothing while data is buffered, in milliseconds. */
const STALLED_MS = 30_000;
/** How long a client may take to read the rest when the API ends its stream, in milliseconds. */
const GOODBYE_MS = 2_000;
/** Delay before a client reconnects, in milliseconds. */
const RETRY_MS = 2_000;
const HEARTBEAT_MS = 10_000;

export const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** Counts over all streams of a process since its start. */
export type StreamCounts = { sent: number; dropped: number };

/** Many clients get the same list of events: it is serialized once, and all their buffers share the bytes. */
const written = new WeakMap<readonly StreamEvent[], Buffer>();

function bytesOf(events: readonly StreamEvent[]): Buffer {
  const known = written.get(events);
  if (known !== undefined) return known;
  const bytes = Buffer.from(events.map(frameOf).join(''));
  written.set(events, bytes);
  return bytes;
}

/** The data of a fleeting event gets the present time. */
function frameOf({ seq, name, data }: StreamEvent): string {
  if (seq !== null) return `id: ${seq}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
  return `event: ${name}\ndata: ${JSON.stringify({ ...data, at: toIso(Date.now()) })}\n\n`;
}

export class SseStream implements Subscriber {
  readonly #response: ServerResponse;
  readonly #counts: StreamCounts;
  /** Since when writes are blocked, on the monotonic clock; null: not blocked. */
  #stalledAt: number | null = null;
  #heartbeatAt = performance.now();
  #over = false;

  /**
   * Starts the response. `position` is the cursor of a client that loses the connection before the first event; null: the
   * stream has none.
   */
  constructor(response: ServerResponse, position: number | null, counts: StreamCounts) {
    this.#response = response;
    this.#counts = counts;
    response.on('drain', () => (this.#stalledAt = null));
    response.on('close', () => (this.#over = true));
    response.on('error', () => undefined);
    response.writeHead(200, STREAM_HEADERS);
    this.#write(`retry: ${RETRY_MS}\n${position === null ? '' : `id: ${position}\n`}\n`);
  }

  send(events: readonly StreamEvent[]): void {
    if (this.#over || events.length === 0) return;
    if (this.#response.writableLength > BUFFERED) return this.#drop();
    this.#counts.sent += events.length;
    this.#write(bytesOf(events));
  }

  async drained(): Promise<void> {
    if (this.#over || !this.#response.writableNeedDrain) return;
    const settled = new AbortController();
    const { signal } = settled;
    await Promise.race([once(this.#response, 'drain', { signal }), once(this.#response, 'close', { signal })]).finally(
      () => settled.abort(),
    );
  }

  /** Called about once a second for each stream of the process. `heartbeat`: the event to send. */
  tick(heartbeat: readonly StreamEvent[]): void {
    const now = performance.now();
    if (this.#over) return;
    if (this.#stalledAt !== null) {
      if (now - this.#stalledAt > STALLED_MS) this.#drop();
      return;
    }
    if (now - this.#heartbeatAt < HEARTBEAT_MS) return;
    this.#heartbeatAt = now;
    this.send(heartbeat);
  }

  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#response.end();
    const timer = setTimeout(() => this.#response.destroy(), GOODBYE_MS);
    this.#response.once('close', () => clearTimeout(timer));
  }

  /** Writes at once and not at the end of the tick, so that a broadcast to many clients measures its real duration. */
  #write(bytes: Buffer | string): void {
    const { socket } = this.#response;
    socket?.cork();
    if (!this.#response.write(bytes)) this.#stalledAt ??= performance.now();
    socket?.uncork();
  }

  #drop(): void {
    this.#over = true;
    this.#counts.dropped += 1;
    this.#response.destroy();
  }
}
