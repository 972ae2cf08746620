/** Names of what has no name of its own. */

export const nameWords = {
  context: (id: string) => `Context ${id}`,
} as const;
