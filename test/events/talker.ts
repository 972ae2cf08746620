// A model that goes on speaking, word by word, until whoever listens has heard enough.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Model } from '../../src/core/model.ts';
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
