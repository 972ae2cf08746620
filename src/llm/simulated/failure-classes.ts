/** The failure classes by name, for scripts. */
import type { FailureClass } from '../../core/model/model.ts';
import { FAILURE_RULES } from '../../core/run/retry.ts';

export const FAILURE_CLASSES: readonly string[] = Object.keys(FAILURE_RULES);

export function isFailureClass(text: string): text is FailureClass {
  return FAILURE_CLASSES.includes(text);
}
