/**
 * Publishes what changed, for clients that follow a tenant. Nothing is published while no client does, as API processes
 * say every few seconds. Contexts are collected for a short time, so that many appends make one message.
 */
import type { ContextId } from '../core/ids.ts';
import { changes, changesWanted, type Bus, type ChangePublisher, type Channels } from './bus.ts';

/** API processes with followers say so more often, in milliseconds. */
const FIRST_MS = 5_000;
/** How long contexts are collected, in milliseconds. */
const GATHER_MS = 200;
/** Contexts in one message at most. */
const MANY = 1_000;

export function withChanges(channels: Channels): Bus {
  return { ...channels, changed: createChangePublisher(channels) };
}

function createChangePublisher(channels: Channels): ChangePublisher {
  /** Until when changes are wanted, on the monotonic clock: at first until API processes have said whether they are. */
  let until = performance.now() + FIRST_MS;
  let gathered = new Set<ContextId>();
  void channels.subscribe(changesWanted(), ({ forMs }) => (until = performance.now() + forMs));

  const isWanted = (): boolean => performance.now() < until;

  function send(): void {
    const contextIds = [...gathered];
    gathered = new Set();
    if (contextIds.length > 0) channels.publish(changes(), { kind: 'contexts', contextIds });
  }

  return {
    context(contextId) {
      if (!isWanted()) return;
      if (gathered.size === 0) setTimeout(send, GATHER_MS).unref();
      gathered.add(contextId);
      if (gathered.size >= MANY) send();
    },
    resource(tenantId, resource) {
      if (isWanted()) channels.publish(changes(), { kind: 'resource', tenantId, resource });
    },
  };
}
