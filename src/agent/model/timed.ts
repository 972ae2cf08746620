/** Records of a model call: when it started, when its first byte arrived, and the text of the answer so far. */
import { beforeStart, type ModelListener } from '../../core/model/model.ts';
import type { CallTimes } from '../../core/model/model-call.ts';
import type { Clock, Millis } from '../../core/time.ts';

/** The call starts now; `times` and `text` are valid once it has ended. */
export function timed(
  clock: Clock,
  listener: ModelListener,
): { listener: ModelListener; times: () => CallTimes; text: () => string } {
  const calledAt = clock.now();
  let firstByteAt: Millis | null = null;
  let text = '';
  const timedListener = beforeStart(listener, () => {
    firstByteAt ??= Math.max(calledAt, clock.now());
  });
  return {
    listener: {
      ...timedListener,
      text(delta) {
        text += delta;
        timedListener.text(delta);
      },
    },
    times: () => ({ calledAt, firstByteAt }),
    text: () => text,
  };
}
