/** The models that were called, each once, in the order of their first calls. Pure. */
import type { JobStep } from 'nightshift/client';

export function modelsOf(steps: readonly JobStep[]): string[] {
  return [...new Set(steps.flatMap(({ kind, name }) => (kind === 'model' ? [name] : [])))];
}
