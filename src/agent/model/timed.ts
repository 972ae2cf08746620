/** Records when a model call started and when its first byte arrived. */
import { beforeStart, type ModelListener } from '../../core/model/model.ts';
import type { CallTimes } from '../../core/model/model-call.ts';
import type { Clock, Millis } from '../../core/time.ts';

/** The call starts now; `times` is valid once it has ended. */
export function timed(clock: Clock, listener: ModelListener): { listener: ModelListener; times: () => CallTimes } {
  const calledAt = clock.now();
  let firstByteAt: Millis | null = null;
  const timedListener = beforeStart(listener, () => {
    firstByteAt ??= Math.max(calledAt, clock.now());
  });
  return { listener: timedListener, times: () => ({ calledAt, firstByteAt }) };
}
