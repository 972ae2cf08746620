/** The bus within a single process. */
import { EventEmitter } from 'node:events';
import type { Bus } from './bus.ts';
import { withChanges } from './change-publisher.ts';

export function localBus(): Bus {
  const emitter = new EventEmitter();
  emitter.setMaxListeners(0);
  return withChanges({
    publish(channel, message) {
      setImmediate(() => emitter.emit(channel.name, message));
    },
    async subscribe(channel, handle) {
      emitter.on(channel.name, handle);
      return () => emitter.off(channel.name, handle);
    },
    // Within one process no message is lost.
    onLost: () => () => undefined,
    async close() {
      emitter.removeAllListeners();
    },
  });
}
