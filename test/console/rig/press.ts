// Keys that belong together.
import type { Page } from 'playwright-core';

/** A page takes the second key of a sequence for a second and a half: they are sent without a wait between them. */
export async function pressSequence({ keyboard }: Page, ...sequence: readonly string[]): Promise<void> {
  await Promise.all(sequence.map((key) => keyboard.press(key)));
}
