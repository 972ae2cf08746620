import type { Logger } from 'pino';

/**
 * Closes the parts of a process, the last one first, also one that is added meanwhile. One that cannot be closed is logged:
 * the others are closed, and the reason why the process ends is kept.
 */
export async function endAll(ends: (() => Promise<void>)[], log: Pick<Logger, 'error'>): Promise<void> {
  for (const end of ends.reverse())
    await end().catch((error: unknown) => log.error({ err: error }, 'a part of the process could not be closed'));
}
