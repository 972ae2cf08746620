/** Whether a command may be run: what it is called, against globs. Pure, and fast whatever they are. */
import { isMatch } from '../../../core/policy.ts';

/** `*` stands for any text without a slash, every other character for itself. */
export function isAllowed(command: string, globs: readonly string[] | null): boolean {
  return globs === null || globs.some((glob) => matches(glob.split('/'), command.split('/')));
}

function matches(globs: readonly string[], names: readonly string[]): boolean {
  return globs.length === names.length && globs.every((glob, at) => isMatch(glob, names[at] ?? ''));
}
