// A violation that a check reports.
import type { Violation } from '../world/world.ts';

export type Reporter = (what: string, contextId: string | null, ...ids: (string | null)[]) => Violation;

export function reporter(check: string): Reporter {
  return (what, contextId, ...ids) => ({
    check,
    what,
    contextId,
    ids: ids.filter((id) => id !== null),
  });
}
