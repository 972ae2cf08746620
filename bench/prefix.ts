/** Prompts that follow each other, as the prompt cache of a provider sees them. Pure. */
import { sharedLength } from '../test/llm/fake/prompt-cache.ts';

/** How much of each prompt is the beginning of the next one. The sum over all, as a share. */
export function shareOfBefore(prompts: readonly string[]): number {
  return shared(prompts) / lengthOf(prompts.slice(0, -1));
}

/** How much of each prompt after the first equals the beginning of the one before. */
export function shareShared(prompts: readonly string[]): number {
  return shared(prompts) / lengthOf(prompts.slice(1));
}

function shared(prompts: readonly string[]): number {
  return prompts.slice(1).reduce((sum, prompt, index) => sum + sharedLength(prompts[index] ?? '', prompt), 0);
}

function lengthOf(prompts: readonly string[]): number {
  return prompts.reduce((sum, { length }) => sum + length, 0);
}
