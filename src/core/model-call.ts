/** What is told of a model call beside what came of it: for the timeline of its job. */
import type { JobError } from './errors.ts';
import type { Fingerprint } from './fingerprint.ts';
import type { JobId, MessageId } from './ids.ts';
import type { Millis } from './time.ts';

/** When it was begun, and when the first byte of its answer came (null: none did). */
export type CallTimes = { calledAt: Millis; firstByteAt: Millis | null };

export type ModelCall =
  /** Its message says the rest. */
  | (CallTimes & { kind: 'answered'; messageId: MessageId; attempt: number; prompt: Fingerprint })
  | (CallTimes & {
      kind: 'failed';
      jobId: JobId;
      attempt: number;
      /** `provider/model`. */
      model: string;
      error: JobError;
      /** When it is made again; null: it is not. */
      retryAt: Millis | null;
      /** Null: a summary was asked for. */
      prompt: Fingerprint | null;
    });
