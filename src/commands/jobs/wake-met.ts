/**
 * Wakes contexts whose calls no longer wait for any worker, after the commit that ended the last awaited job: each in
 * its own statement. If this fails, or the process dies before it, the sweep wakes them.
 */
import type { ContextId } from '../../core/ids.ts';
import { wakeMet as wake } from '../../db/calls/awaited.ts';
import type { CommandPorts } from '../ports.ts';

export function wakeMet(
  { database, wakeQueue }: Pick<CommandPorts, 'database' | 'wakeQueue'>,
  contexts: readonly ContextId[],
): void {
  const wakeAll = async (): Promise<void> => {
    for (const contextId of contexts) {
      const woken = await wake(database.db, contextId);
      if (woken !== null) wakeQueue.notify(woken);
    }
  };
  void wakeAll().catch(() => undefined);
}
