/**
 * Follows a job to its end and reconnects when needed: its answer, its progress, and the progress of the workers that
 * it spawns.
 */
import type { Job } from '../../client/index.ts';
import type { AnswerText } from './answer-text.ts';
import { receive, type FollowedJob, type FollowedTree, type TreeListener } from './follow-tree.ts';

/** `answer` null: the text is not streamed. */
type Following = TreeListener & { answer: AnswerText | null };

/** Resolves with the finished job. Rejects with the reason of the signal. */
export async function followJob(following: Following, job: FollowedJob): Promise<Job> {
  const over = new AbortController();
  const signal = AbortSignal.any([following.signal, over.signal]);
  const tree: FollowedTree = { ...following, signal, children: new Set() };
  try {
    await receive(tree, job, '', following.answer);
    following.signal.throwIfAborted();
    return await following.client.jobs.wait(job.jobId, { signal: following.signal });
  } finally {
    over.abort();
    await Promise.all(tree.children);
  }
}
