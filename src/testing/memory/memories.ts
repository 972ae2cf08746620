/** The memory of a worker, for the tools `remember` and `recall`. */
import { MEMORY_LIMITS, type Memories } from '../../tools/built-in/memory.ts';

export function memoriesInMemory(): Memories {
  const byKey = new Map<string, string>();
  return {
    async remember(_, { key, value }) {
      if (value === '') {
        byKey.delete(key);
        return 'done';
      }
      const others = [...byKey].filter(([known]) => known !== key);
      const total = [...others, [key, value] as const].reduce(
        (sum, [name, text]) => sum + name.length + text.length,
        0,
      );
      if (others.length >= MEMORY_LIMITS.count || total > MEMORY_LIMITS.total) return 'full';
      byKey.set(key, value);
      return 'done';
    },
    async recall(_, key) {
      return [...byKey]
        .filter(([known]) => key === null || known === key)
        .map(([known, value]) => ({ key: known, value }))
        .sort((one, other) => (one.key < other.key ? -1 : 1));
    },
  };
}
