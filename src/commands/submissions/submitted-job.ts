/** What a submission asks for: an input for a context, or a worker with its first input. */
import type { JobId, MessageId, WorkerId } from '../../core/ids.ts';
import type { User } from '../../core/access/user.ts';
import type { WorkerConfig } from '../../core/workers/settings.ts';
import type { FirstInput } from '../inputs/posted-input.ts';

/** `branch` null: the active one. */
export type SubmissionTarget =
  | { kind: 'context'; branch: string | null }
  | {
      kind: 'worker';
      workerId: WorkerId;
      name: string;
      user: User | null;
      role: string | null;
      config: WorkerConfig;
    };

export type SubmittedJob = { jobId: JobId; messageId: MessageId; target: SubmissionTarget; input: FirstInput };
