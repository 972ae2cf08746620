/** Data about a model call besides its result, for the job's timeline. */
import type { JobError } from '../errors.ts';
import type { Fingerprint } from './fingerprint.ts';
import type { JobId, MessageId } from '../ids.ts';
import type { ThrottledWait } from '../run/throttle.ts';
import type { Millis } from '../time.ts';

/** When the call started, and when the first byte of the answer arrived (null: none did). */
export type CallTimes = { calledAt: Millis; firstByteAt: Millis | null };

/** `throttled`: its wait for a throttle; null: it started at once. */
export type CallStart = CallTimes & { throttled: ThrottledWait | null };

type WithoutAnswer = CallStart & {
  jobId: JobId;
  attempt: number;
  /** `provider/model`. */
  model: string;
  /** Null: the call asked for a summary. */
  prompt: Fingerprint | null;
};

/** A call that was aborted because its job ended. */
export type StoppedCall = WithoutAnswer & { kind: 'stopped' };

/** `retryAt`: when the call is retried; null: it is not. */
export type FailedCall = WithoutAnswer & { kind: 'failed'; error: JobError; retryAt: Millis | null };

export type UnansweredCall = StoppedCall | FailedCall;

export type ModelCall =
  /** Everything else is stored with the answer's message. */
  (CallStart & { kind: 'answered'; messageId: MessageId; attempt: number; prompt: Fingerprint }) | UnansweredCall;
