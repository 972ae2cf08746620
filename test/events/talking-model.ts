// Models that take care to be heard: one goes on speaking, word by word, until whoever listens has heard enough; one says
// what another one says, and has not ended before it was heard.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Model, ModelRequest } from '../../src/core/model/model.ts';
import { says } from '../workers/fleet.ts';

export type Talker = {
  model: Model;
  /** It has begun to speak. */
  begun: Promise<void>;
  /** What is enough; it goes on for ever before it is told. */
  until(isEnough: () => boolean): void;
};

export function talker(): Talker {
  const begun = Promise.withResolvers<void>();
  let isEnough = (): boolean => false;
  return {
    begun: begun.promise,
    until: (enough) => {
      isEnough = enough;
    },
    model: {
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

export type Held = {
  model: Model;
  /** No call ends before this holds of it. */
  until(isHeard: (request: ModelRequest) => boolean): void;
};

/** `model`, whose calls end as they would, but for what is said of `until`. */
export function held(model: Model): Held {
  let isHeard: (request: ModelRequest) => boolean = () => true;
  return {
    until: (heard) => {
      isHeard = heard;
    },
    model: {
      async call(request, listener, signal) {
        const outcome = await model.call(request, listener, signal);
        while (!isHeard(request) && !signal.aborted) await sleep(10);
        return outcome;
      },
    },
  };
}
