/**
 * Statements for many callers. Outside of a transaction, parts that arrive while such a statement is in flight share the
 * next one (batcher.ts); in a transaction, each has its own.
 */
import { isPool, type Executor } from '../connection/client.ts';
import { createBatcher } from './batcher.ts';

type Shared<Part, Answer> = {
  /** One statement. Answers in the order of the parts. */
  run: (executor: Executor, parts: readonly Part[]) => Promise<Answer[]>;
  /** Parts in one statement at most. */
  most: number;
  /** A large part has its own statement: others must not wait for it. */
  isLarge?: (part: Part) => boolean;
};

export function shared<Part, Answer>({
  run,
  most,
  isLarge = () => false,
}: Shared<Part, Answer>): (executor: Executor, part: Part) => Promise<Answer> {
  const batchers = new WeakMap<Executor, (part: Part) => Promise<Answer>>();

  async function alone(executor: Executor, part: Part): Promise<Answer> {
    const [answer] = await run(executor, [part]);
    if (answer === undefined) throw new Error('A statement has no answer for its part.');
    return answer;
  }

  function batcherOf(pool: Executor): (part: Part) => Promise<Answer> {
    const known = batchers.get(pool);
    if (known !== undefined) return known;
    const batcher = createBatcher<Part, Answer>({
      shared: (parts) => run(pool, parts),
      alone: (part) => alone(pool, part),
      most,
    });
    batchers.set(pool, batcher);
    return batcher;
  }

  return (executor, part) => (isPool(executor) && !isLarge(part) ? batcherOf(executor)(part) : alone(executor, part));
}
