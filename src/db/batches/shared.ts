/**
 * Statements for many callers. Outside of a transaction, parts that arrive while such a statement is in flight share the
 * next one (batcher.ts), those of one tenant where row security limits the pool; in a transaction, each has its own.
 */
import { groupOf, isPool, type Executor } from '../connection/client.ts';
import { createBatcher, type Batch } from './batcher.ts';

type Shared<Part, Answer> = Pick<Batch<Part, Answer>, 'keyOf' | 'most'> & {
  /** One statement. Answers in the order of the parts; `undefined` for a part of which nothing was done. */
  run: (executor: Executor, parts: readonly Part[]) => Promise<(Answer | undefined)[]>;
  /** For a part with a statement of its own. Without it, `run`, which then has an answer. */
  alone?: (executor: Executor, part: Part) => Promise<Answer>;
  /** A large part has its own statement: others must not wait for it. */
  isLarge?: (part: Part) => boolean;
};

/** Batchers that a pool keeps. One that is dropped still sends what waits in it. */
const MOST_GROUPS = 1_000;

export function shared<Part, Answer>({
  run,
  alone = runAlone(run),
  isLarge = () => false,
  ...batch
}: Shared<Part, Answer>): (executor: Executor, part: Part) => Promise<Answer> {
  const batchers = new WeakMap<Executor, Map<string, (part: Part) => Promise<Answer>>>();

  function batcherOf(pool: Executor): (part: Part) => Promise<Answer> {
    const group = groupOf(pool);
    const ofPool = batchers.get(pool) ?? new Map<string, (part: Part) => Promise<Answer>>();
    batchers.set(pool, ofPool);
    const known = ofPool.get(group);
    if (known !== undefined) return known;
    const batcher = createBatcher<Part, Answer>({
      ...batch,
      shared: (parts) => run(pool, parts),
      alone: (part) => alone(pool, part),
    });
    const [oldest] = ofPool.keys();
    if (ofPool.size >= MOST_GROUPS && oldest !== undefined) ofPool.delete(oldest);
    ofPool.set(group, batcher);
    return batcher;
  }

  return (executor, part) => (isPool(executor) && !isLarge(part) ? batcherOf(executor)(part) : alone(executor, part));
}

function runAlone<Part, Answer>(run: Shared<Part, Answer>['run']): (executor: Executor, part: Part) => Promise<Answer> {
  return async (executor, part) => {
    const [answer] = await run(executor, [part]);
    if (answer === undefined) throw new Error('A statement has no answer for its part.');
    return answer;
  };
}
