/** A subscriber of a context: the stream of a client, on the server's side. */
import type { StreamEvent } from '../core/stream/stream-event.ts';

export type Subscriber = {
  /** In order, each event once. Must not throw. A call after the client has gone has no effect. */
  send(events: readonly StreamEvent[]): void;
  /** Resolves when there is room for more, or the client has gone. */
  drained(): Promise<void>;
  /** No more events follow. */
  end(): void;
};
