/**
 * What a tool reports while it runs: entries of its log, and progress. A report never delays or fails the call. It is
 * stored about once a second, so a crash may lose the last second of it.
 */
import type { JsonObject } from '../json.ts';
import type { Millis } from '../time.ts';

/** From the least to the most important. */
export const ENTRY_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type EntryLevel = (typeof ENTRY_LEVELS)[number];

/** One entry of the log of a call. `fields` null: it has none. */
export type LogEntry = { at: Millis; level: EntryLevel; message: string; fields: JsonObject | null };

/** The last progress of a call. Null: not told. `at`: when the tool reported it. */
export type CallProgress = { message: string | null; done: number | null; total: number | null; at: Millis };

/** Takes what the tool passes, which may be anything. Never throws. */
export type CallReport = {
  log(level: EntryLevel, message: unknown, fields: unknown): void;
  progress(given: unknown): void;
};

/** `end`: the call has ended. What is reported later is dropped. */
export type OpenReport = CallReport & { end(): void };

/** The levels that are at least as important. */
export function levelsFrom(level: EntryLevel): EntryLevel[] {
  return ENTRY_LEVELS.slice(ENTRY_LEVELS.indexOf(level));
}
