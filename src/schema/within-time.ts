/**
 * Runs work that a client's data may keep busy for ever, such as a pattern that backtracks or a schema that refers to
 * itself again and again. Nothing else runs in the thread meanwhile, so the time is short.
 */
import { createContext, Script } from 'node:vm';
import { once } from '../core/once.ts';

type InTime<T> = { ok: true; value: T } | { ok: false };

/** How often work is started again that had little of the processor, because the machine was busy. */
const MOST_STARTS = 4;

/**
 * `ok: false`: the time is up, and the work has been stopped wherever it was. Throws what the work throws. On a busy
 * machine the work may be started again, from its beginning.
 */
export function withinTime<T>(ms: number, work: () => T): InTime<T> {
  for (let starts = 1; ; starts += 1) {
    const before = process.threadCpuUsage();
    const result = attempt(ms, work);
    if (result.ok || starts === MOST_STARTS) return result;
    const { user, system } = process.threadCpuUsage(before);
    if (user + system > (ms * 1_000) / 2) return result;
  }
}

function attempt<T>(ms: number, work: () => T): InTime<T> {
  const { script, context, global } = caller();
  const done: { value: T }[] = [];
  global.work = () => {
    done.push({ value: work() });
  };
  try {
    script.runInContext(context, { timeout: ms });
  } catch (error) {
    if (!isTimeout(error)) throw error;
    return { ok: false };
  } finally {
    global.work = null;
  }
  const [result] = done;
  if (result === undefined) throw new Error('The work did not run.');
  return { ok: true, value: result.value };
}

/** A timeout applies to all that the script calls, in whatever context. Nothing foreign runs in this one. */
const caller = once(() => {
  const global: { work: (() => void) | null } = { work: null };
  return { script: new Script('work()'), context: createContext(global), global };
});

function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
