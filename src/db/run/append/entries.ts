/** Places of entries. */
import type { Entry } from '../../../core/run/append.ts';

/** `place` counts from 1: the first entry gets the sequence number after the context's current head. */
export function placedEntries(entries: readonly Entry[]): { entry: Entry; place: number }[] {
  return entries.map((entry, index) => ({ entry, place: index + 1 }));
}
