/** What every kind of import comes to: what its worker is made from, and how its context is filled. */
import type { StoredEntry, Filling } from '../../db/import.ts';
import type { WorkerConfig } from '../../core/settings.ts';
import { NO_USAGE } from '../../core/usage.ts';
import { parseInstant } from '../instant.ts';

export type Source = {
  title: string | null;
  worker: { name: string; role: string | null };
  config: WorkerConfig;
  context: Filling['context'];
  /** From the beginning, each time. */
  entries(): AsyncIterable<StoredEntry>;
  /** Where an entry stands in the body. */
  placeOf(number: number): string;
  told: Filling['told'];
};

/** Of a time that the schema has taken. */
export function instantAt(text: string, at: string): number {
  return parseInstant(text, at) ?? 0;
}

export const NO_COUNTS = {
  messageCount: 0,
  requestCount: 0,
  usage: NO_USAGE,
} as const;
