/** Checks a command name against globs. Pure, and fast for any glob. */
import { isMatch } from '../../../core/run/policy.ts';

/** `*` matches any text without a slash; every other character matches itself. */
export function isAllowed(command: string, globs: readonly string[] | null): boolean {
  return globs === null || globs.some((glob) => matches(glob.split('/'), command.split('/')));
}

function matches(globs: readonly string[], names: readonly string[]): boolean {
  return globs.length === names.length && globs.every((glob, at) => isMatch(glob, names[at] ?? ''));
}
