/** Input messages about other workers, for the model: messages they sent and notices that their job ended. */
import { textOf, type Block, type InputBlock } from '../conversation/blocks.ts';
import type { JobError } from '../errors.ts';
import type { JobId, WorkerId } from '../ids.ts';
import type { FinishedStatus } from '../run/job.ts';

type Peer = { id: WorkerId; name: string };

/** How a job of a worker ended. */
type Ended = {
  jobId: JobId;
  status: FinishedStatus;
  output: Block[];
  error: JobError | null;
  reason: string | null;
};

/** Why a worker may not start more work: `hops` workers have passed the request on. */
export function passedOnTooOften(hops: number, limit: number): string {
  return `Workers already passed this on ${hops} times. The limit is ${limit}. Answer without sending more.`;
}

/** A message from another worker. */
export function sentMessage(sender: Peer, content: string): InputBlock[] {
  return [{ type: 'text', text: `Message from worker ${named(sender)}:\n\n${content}` }];
}

/** The notice that a worker's job ended, if no call waited for it. */
export function reportMessage(worker: Peer, ended: Ended): InputBlock[] {
  const header = `Report: job ${ended.jobId} of worker ${named(worker)} ended: ${ended.status}.`;
  const rest = endText(ended);
  return [{ type: 'text', text: rest === '' ? header : `${header}\n\n${rest}` }];
}

function endText({ output, error, reason }: Ended): string {
  const why = error === null ? (reason ?? '') : `${error.code}: ${error.message}`;
  return [why, textOf(output)].filter((text) => text !== '').join('\n\n');
}

function named({ id, name }: Peer): string {
  return `${JSON.stringify(name)} (${id})`;
}
