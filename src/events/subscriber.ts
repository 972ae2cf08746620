/** Who listens to a context: a client's stream, on this side of its connection. */
import type { StreamEvent } from '../core/stream-event.ts';

export type Subscriber = {
  /** In order, each once. Must not throw; nothing comes of telling one that is gone. */
  send(events: readonly StreamEvent[]): void;
  /** Resolves when there is room for more, or nobody is there any more. */
  drained(): Promise<void>;
  /** Nothing more will be told. */
  end(): void;
};
