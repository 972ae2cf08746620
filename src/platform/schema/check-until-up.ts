/** An API process starts also while PostgreSQL is away. What it checks of it is checked once it answers. */
import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isUnavailable } from '../../db/connection/database-errors.ts';
import { describeAway } from './check-pooling.ts';

const FIRST_MS = 500;
const LONGEST_MS = 30_000;

export type Checked = {
  /** Resolves when the check has passed; rejects with its error, or with the reason of the signal. */
  passed: Promise<void>;
};

/**
 * Runs `check` until the database has answered it, at growing intervals; resolves after the first time. Rejects with its
 * error, unless the database is unavailable.
 */
export async function checkUntilUp(check: () => Promise<void>, log: Logger, signal: AbortSignal): Promise<Checked> {
  if (await isAnswered(check, log)) return { passed: Promise.resolve() };
  const passed = repeat(check, log, signal);
  // The process may look at it later.
  passed.catch(() => undefined);
  return { passed };
}

async function repeat(check: () => Promise<void>, log: Logger, signal: AbortSignal): Promise<void> {
  for (let pause = FIRST_MS; ; pause = Math.min(LONGEST_MS, pause * 2)) {
    await setTimeout(pause, undefined, { signal });
    if (await isAnswered(check, log)) return;
  }
}

async function isAnswered(check: () => Promise<void>, log: Logger): Promise<boolean> {
  try {
    await check();
    return true;
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    log.warn(describeAway(error));
    return false;
  }
}
