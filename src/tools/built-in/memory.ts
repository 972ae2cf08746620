/** A small memory of a worker, by key: it survives clear, and goes with the worker. */
import type { TenantId, WorkerId } from '../../core/ids.ts';
import { ToolFault } from '../tool-fault.ts';
import type { Tool } from '../tool.ts';
import { builtIn, textIn } from './built-in.ts';

export const MEMORY_TOOLS = ['remember', 'recall'] as const;

/** Characters of a key and of a value; and of one worker, how many memories, and their characters in all. */
export const MEMORY_LIMITS = { key: 200, value: 8_000, count: 500, total: 100_000 } as const;

export type Rememberer = { tenantId: TenantId; workerId: WorkerId };
export type Memory = { key: string; value: string };

/** Where memories are kept. */
export type Memories = {
  /** Over what was there; an empty value forgets. `full`: it would be more than the limits. `gone`: there is no such worker. */
  remember(of: Rememberer, memory: Memory): Promise<'done' | 'full' | 'gone'>;
  /** `key` null: all, by key. */
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
      'Keeps a text under a key for as long as you exist, also when the conversation is cleared. Under a key that is taken the new text replaces the old; an empty text forgets it.',
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
            `There is room for ${MEMORY_LIMITS.count} memories of ${MEMORY_LIMITS.total} characters in all: forget some first.`,
          );
        case 'gone':
          throw new ToolFault('worker_gone', 'The worker is gone.');
      }
    },
  });
}

function recall(memories: Memories): Tool {
  return builtIn({
    name: 'recall',
    description: 'What you kept with remember: the text under a key, or without a key all keys and texts.',
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
