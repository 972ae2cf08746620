/**
 * Work of many runs in one statement or transaction. What comes while nothing is under way is sent at once; what comes
 * while something is gathers, and shares the next. Each has an answer of its own:
 * - What a shared sending had no answer for is sent again alone, so that nobody waits for a row that is not theirs.
 * - An error rolls a shared sending back whole: each of its parts is then sent alone, and fails alone.
 * - Where nobody can say what became of it, all its parts are in doubt.
 */
import { setTimeout } from 'node:timers/promises';
import pTimeout from 'p-timeout';
import { DATABASE_TIMEOUT, isAway } from './database-timeout.ts';

export type Batch<Part, Answer> = {
  /** Parts of one context never share: its order is kept. */
  contextOf(part: Part): string;
  /** Answers in the order of the parts; `undefined` where one was passed by. Nothing of such a one was done. */
  shared(parts: readonly Part[]): Promise<(Answer | undefined)[]>;
  alone(part: Part): Promise<Answer>;
  /** Parts that share, at most. */
  most: number;
};

/** Whatever takes longer holds nobody else up: the next is sent beside it. */
const SLOW_MS = 100;

type Waiting<Part, Answer> = {
  part: Part;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
};

/** Rejects as the statement did; `isAway` tells whether it may have been committed all the same. */
export function createBatcher<Part, Answer>(batch: Batch<Part, Answer>): (part: Part) => Promise<Answer> {
  let waiting: Waiting<Part, Answer>[] = [];
  // One at a time: what a sending costs by itself, whatever it brings, is shared by as many as there are.
  let isUnderWay = false;

  /** At most one of each context; the others wait for the next. */
  function take(): Waiting<Part, Answer>[] {
    const taken = new Map<string, Waiting<Part, Answer>>();
    const left: Waiting<Part, Answer>[] = [];
    for (const one of waiting) {
      const context = batch.contextOf(one.part);
      if (taken.size < batch.most && !taken.has(context)) taken.set(context, one);
      else left.push(one);
    }
    waiting = left;
    return [...taken.values()];
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
      waiting.push({ part, resolve, reject });
      sendWaiting();
    });
}

/** Resolves when the shared sending has ended; what is sent again alone is waited for by its own run only. */
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
