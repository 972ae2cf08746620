/**
 * Combines work of many runs or requests into one statement or transaction. A part that arrives while no batch is in
 * flight is sent at once; parts that arrive meanwhile share the next batch. Each part gets its own answer:
 * - A part without an answer from its batch is sent again alone, so that no part waits for the row lock of another one.
 * - An error rolls the whole batch back. Each of its parts is then sent alone, and fails alone.
 * - If the outcome of a batch is unknown (connection lost, timeout), all its parts are in doubt.
 */
import { setTimeout } from 'node:timers/promises';
import pTimeout from 'p-timeout';
import { DATABASE_TIMEOUT, isAway } from './database-timeout.ts';

export type Batch<Part, Answer> = {
  /** Parts with the same key are never in one batch: their order is kept. Without it, every part has its own key. */
  keyOf?(part: Part): string;
  /** Answers in the order of the parts; `undefined` for a part that was skipped, of which nothing was done. */
  shared(parts: readonly Part[]): Promise<(Answer | undefined)[]>;
  alone(part: Part): Promise<Answer>;
  /** Parts in one batch at most. */
  most: number;
  /** The size of a part, and the largest size of a batch; a larger part is a batch of its own. Without it, no limit. */
  size?: { of(part: Part): number; most: number };
};

/** After this time, in milliseconds, a batch no longer blocks the next one: both are in flight. */
const SLOW_MS = 100;

type Waiting<Part, Answer> = {
  part: Part;
  size: number;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
};

/** Rejects with the error of the statement. If `isAway` is true of it, the statement may still have been committed. */
export function createBatcher<Part, Answer>(batch: Batch<Part, Answer>): (part: Part) => Promise<Answer> {
  let waiting: Waiting<Part, Answer>[] = [];
  // One batch at a time, so that as many parts as possible share its fixed cost.
  let isUnderWay = false;

  const mostSize = batch.size?.most ?? Infinity;

  /** At most one part for each key; the others wait for the next batch. */
  function take(): Waiting<Part, Answer>[] {
    const taken: Waiting<Part, Answer>[] = [];
    const left: Waiting<Part, Answer>[] = [];
    const keys = new Set<unknown>();
    let size = 0;
    for (const one of waiting) {
      const key = batch.keyOf?.(one.part) ?? one;
      const fits = taken.length === 0 || size + one.size <= mostSize;
      if (fits && taken.length < batch.most && !keys.has(key)) {
        taken.push(one);
        size += one.size;
      } else left.push(one);
      keys.add(key);
    }
    waiting = left;
    return taken;
  }

  function sendWaiting(): void {
    if (isUnderWay || waiting.length === 0) return;
    isUnderWay = true;
    const sent = sendShared(batch, take());
    void Promise.race([sent, setTimeout(SLOW_MS, undefined, { ref: false })]).then(() => {
      isUnderWay = false;
      sendWaiting();
    });
  }

  return (part) =>
    new Promise((resolve, reject) => {
      waiting.push({ part, size: batch.size?.of(part) ?? 0, resolve, reject });
      sendWaiting();
    });
}

/** Resolves when the batch has ended. Only its own caller waits for a part that is sent again alone. */
async function sendShared<Part, Answer>(
  batch: Batch<Part, Answer>,
  shared: readonly Waiting<Part, Answer>[],
): Promise<void> {
  const alone = ({ part, resolve, reject }: Waiting<Part, Answer>): void => {
    pTimeout(batch.alone(part), DATABASE_TIMEOUT).then(resolve, reject);
  };
  try {
    const parts = shared.map(({ part }) => part);
    const answers = await pTimeout(batch.shared(parts), DATABASE_TIMEOUT);
    shared.forEach((one, index) => {
      const answer = answers[index];
      if (answer === undefined) alone(one);
      else one.resolve(answer);
    });
  } catch (error) {
    for (const one of shared) {
      if (isAway(error)) one.reject(error);
      else alone(one);
    }
  }
}
