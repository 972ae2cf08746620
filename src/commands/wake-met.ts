/**
 * Wakes contexts whose calls wait for no more workers, after the commit that said so: each in a statement of its own. What
 * fails, or dies before, is made up for by the sweep.
 */
import type { ContextId } from '../core/ids.ts';
import { wakeMet as wake } from '../db/awaited.ts';
import type { CommandPorts } from './ports.ts';

export function wakeMet(
  ports: Pick<CommandPorts, 'database' | 'wakeQueue'>,
  contexts: readonly ContextId[],
): void {
  if (contexts.length > 0) void wakeAll(ports, contexts).catch(() => undefined);
}

async function wakeAll(
  { database, wakeQueue }: Pick<CommandPorts, 'database' | 'wakeQueue'>,
  contexts: readonly ContextId[],
): Promise<void> {
  for (const contextId of contexts) {
    const woken = await wake(database.db, contextId);
    if (woken !== null) wakeQueue.notify(woken);
  }
}
