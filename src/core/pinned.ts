/**
 * Pieces of text that a worker always has before it: they stand right behind the system prompt in every prompt, byte for
 * byte the same until they are changed, so that what providers cached of the prompt holds. They are settings, not history:
 * neither a clear nor a compaction touches them.
 */
export type Pinned = { title: string; text: string };

/** Sizes in UTF-16 units. */
export const PINNED = { most: 20, title: 200, text: 100_000 } as const;

/** As a model reads them; empty where there are none. */
export function pinnedText(pinned: readonly Pinned[]): string {
  return pinned
    .map(({ title, text }) => `<pinned title=${JSON.stringify(title)}>\n${text}\n</pinned>`)
    .join('\n\n');
}
