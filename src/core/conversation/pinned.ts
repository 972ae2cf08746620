/**
 * Texts that a worker always has in its prompt. They follow the system prompt and stay byte for byte the same until
 * they are changed, so that the provider's prompt cache stays valid. They are settings, not history: clear and
 * compaction do not change them.
 */
export type Pinned = { title: string; text: string };

/** Sizes in UTF-16 code units. */
export const PINNED = { most: 20, title: 200, text: 100_000 } as const;

/** The pinned texts as the model reads them; empty if there are none. */
export function pinnedText(pinned: readonly Pinned[]): string {
  return pinned.map(({ title, text }) => `<pinned title=${JSON.stringify(title)}>\n${text}\n</pinned>`).join('\n\n');
}
