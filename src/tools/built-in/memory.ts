/** The memory of a worker: texts by key. It survives clearing the context and is deleted with the worker. */
import type { TenantId, WorkerId } from '../../core/ids.ts';
import { ToolFault } from '../run/tool-fault.ts';
import type { Tool } from '../registry/tool.ts';
import { builtIn, textIn } from './built-in.ts';

export const MEMORY_TOOLS = ['remember', 'recall'] as const;

/** Maximum characters of a key and of a value; and per worker, the number of memories and their total characters. */
export const MEMORY_LIMITS = { key: 200, value: 8_000, count: 500, total: 100_000 } as const;

type Rememberer = { tenantId: TenantId; workerId: WorkerId };
type Memory = { key: string; value: string };

/** The storage of memories. */
export type Memories = {
  /**
   * Replaces an existing value; an empty value deletes it. `full`: the limits are exceeded. `gone`: the worker does not
   * exist.
   */
  remember(of: Rememberer, memory: Memory): Promise<'done' | 'full' | 'gone'>;
  /** `key` null: all memories, sorted by key. */
  recall(of: Rememberer, key: string | null): Promise<Memory[]>;
};

const KEY = { type: 'string', minLength: 1, maxLength: MEMORY_LIMITS.key };

export function memoryTools(memories: Memories): Tool[] {
  return [remember(memories), recall(memories)];
}

function remember(memories: Memories): Tool {
  return builtIn({
    name: 'remember',
    description:
      'Stores a text under a key. It is kept as long as you exist, even when the conversation is cleared. A new text replaces the old one; an empty text deletes it.',
    properties: { key: KEY, value: { type: 'string', maxLength: MEMORY_LIMITS.value } },
    required: ['key', 'value'],
    effect: 'idempotent',
    async execute(input, of) {
      const memory = { key: textIn(input, 'key'), value: textIn(input, 'value') };
      switch (await memories.remember(of, memory)) {
        case 'done':
          return { key: memory.key, remembered: memory.value !== '' };
        case 'full':
          throw new ToolFault(
            'memory_full',
            `The memory is full: at most ${MEMORY_LIMITS.count} memories with ${MEMORY_LIMITS.total} characters in total. Delete some first.`,
          );
        case 'gone':
          throw new ToolFault('worker_gone', 'The worker was deleted.');
      }
    },
  });
}

function recall(memories: Memories): Tool {
  return builtIn({
    name: 'recall',
    description: 'Returns what you stored with remember: the text under a key, or without a key all keys and texts.',
    properties: { key: KEY },
    required: [],
    effect: 'none',
    async execute({ key }, of) {
      if (typeof key !== 'string') return { memories: await memories.recall(of, null) };
      const [found] = await memories.recall(of, key);
      return { key, value: found?.value ?? null };
    },
  });
}
