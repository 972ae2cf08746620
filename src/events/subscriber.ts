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

/** A request that is about to subscribe. */
export type Joined = {
  /** The number after which the stream begins; null: it has no numbers. */
  position: number | null;
  /** Sends everything from there on. */
  start(subscriber: Subscriber): void;
  /** Must always be called. */
  stop(): void;
};
