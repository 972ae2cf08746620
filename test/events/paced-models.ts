// Models that wait for their subscribers: one goes on writing, word by word, until the subscriber has received enough;
// one repeats another one, and does not end before its output was received.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Model, ModelRequest } from '../../src/core/model/model.ts';
import { says } from '../workers/worker-fleet.ts';

export type EndlessModel = {
  model: Model;
  /** It has begun to write. */
  begun: Promise<void>;
  /** The condition for enough; it writes without end before it is set. */
  until(isEnough: () => boolean): void;
};

export function endlessModel(): EndlessModel {
  const begun = Promise.withResolvers<void>();
  let isEnough = (): boolean => false;
  return {
    begun: begun.promise,
    until: (enough) => {
      isEnough = enough;
    },
    model: {
      isLoaded: () => true,
      async call(_, listener, signal) {
        listener.started();
        listener.thinking('hm');
        let text = '';
        while (!isEnough() && !signal.aborted) {
          text += 'word ';
          listener.text('word ');
          begun.resolve();
          await sleep(10);
        }
        return signal.aborted ? { kind: 'aborted' } : says(text);
      },
    },
  };
}

export type PacedModel = {
  model: Model;
  /** No call ends before this is true. */
  until(isReceived: (request: ModelRequest) => boolean): void;
};

/** `model`, whose calls end as they would, but not before `until`. */
export function paced(model: Model): PacedModel {
  let isReceived: (request: ModelRequest) => boolean = () => true;
  return {
    until: (isEnoughReceived) => {
      isReceived = isEnoughReceived;
    },
    model: {
      isLoaded: () => model.isLoaded(),
      async call(request, listener, signal) {
        const outcome = await model.call(request, listener, signal);
        while (!isReceived(request) && !signal.aborted) await sleep(10);
        return outcome;
      },
    },
  };
}
