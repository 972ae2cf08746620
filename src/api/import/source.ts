/** The common form of all imports: settings of the worker and content of the context. */
import type { StoredEntry, Filling } from '../../db/write/contexts/import.ts';
import type { WorkerConfig } from '../../core/workers/settings.ts';
import { NO_USAGE } from '../../core/money/usage.ts';
import { parseInstant } from '../request/instant.ts';

export type Source = {
  title: string | null;
  worker: { name: string; role: string | null };
  config: WorkerConfig;
  context: Filling['context'];
  /** Each call starts from the beginning. */
  entries(): AsyncIterable<StoredEntry>;
  /** The path of an entry in the body. */
  placeOf(number: number): string;
  eventData: Filling['eventData'];
};

/** Parses a time that the schema has validated. */
export function instantAt(text: string, at: string): number {
  return parseInstant(text, at) ?? 0;
}

export const NO_COUNTS = {
  messageCount: 0,
  requestCount: 0,
  usage: NO_USAGE,
} as const;

/** Of a message without data of a model call. */
export const NO_CALL = { model: null, attempt: null, calledAt: null, firstByteAt: null } as const;
