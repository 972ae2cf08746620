/** Stores the memories of workers in PostgreSQL, for the tools `remember` and `recall`. */
import type { Database } from '../../db/connection/client.ts';
import { forget, recall, remember } from '../../db/write/workers/memories.ts';
import { MEMORY_LIMITS, type Memories } from '../../tools/built-in/memory.ts';

export function createMemories(database: Database): Memories {
  return {
    remember: async (of, memory) => {
      if (memory.value !== '') return database.transaction((tx) => remember(tx, of, memory, MEMORY_LIMITS));
      await forget(database.db, of, memory.key);
      return 'done';
    },
    recall: (of, key) => recall(database.db, of, key),
  };
}
