/**
 * Follows the event streams of a job and of the workers that it spawns. Prints their progress on stderr and reports the
 * items in the whole tree that wait for a person.
 */
import type { Client, Job, StreamEvent } from '../../client/index.ts';
import { answeredBy, itemOf, type Item } from '../asking/item.ts';
import { oneLine } from '../terminal/safe.ts';
import type { Screen } from '../terminal/screen.ts';
import type { AnswerText } from './answer-text.ts';
import { openProgress, type Progress } from './progress.ts';

type TreeListener = {
  client: Client;
  screen: Screen;
  quiet: boolean;
  asked(item: Item, label: string): void;
  answered(toolCallId: string): void;
  /** Stops following; the job continues. */
  signal: AbortSignal;
};

type FollowedJob = {
  contextId: string;
  jobId: string;
  /** The event number in the context after which the job is followed. */
  after: number;
};

/** A listener and the descendants that it is following. */
export type FollowedTree = TreeListener & { children: Set<Promise<void>> };

/** The maximum number of child streams followed at once. */
const MOST_CHILDREN = 50;

/**
 * Follows a job to its end and reconnects when needed. `answer` null: the text is not streamed. Resolves with the
 * finished job. Rejects with the reason of the signal.
 */
export async function followJob(listener: TreeListener, job: FollowedJob, answer: AnswerText | null): Promise<Job> {
  const over = new AbortController();
  const signal = AbortSignal.any([listener.signal, over.signal]);
  const tree: FollowedTree = { ...listener, signal, children: new Set() };
  try {
    await receive(tree, job, '', answer);
    listener.signal.throwIfAborted();
    return await listener.client.jobs.wait(job.jobId, { signal: listener.signal });
  } finally {
    over.abort();
    await Promise.all(tree.children);
  }
}

/** `label`: the names of the workers from the root to this one; '' for the root. */
async function receive(tree: FollowedTree, job: FollowedJob, label: string, answer: AnswerText | null): Promise<void> {
  const { client, screen, signal, quiet } = tree;
  const progress = quiet ? null : openProgress(client, screen, label);
  const isEnd = (event: StreamEvent): boolean => event.event === 'JobFinished' && event.data.job_id === job.jobId;
  let lost = false;
  const events = client.contexts.events(job.contextId, {
    after: job.after,
    signal,
    until: isEnd,
    onConnection(away) {
      if (label === '' && away !== null && !lost)
        screen.note(screen.sideInk('yellow', 'Connection lost, reconnecting …'));
      if (label === '' && away === null && lost) screen.note(screen.sideInk('dim', 'Connected again.'));
      lost = away !== null;
    },
  });
  // Events before the start of this job belong to earlier jobs of the same context.
  const { status } = await client.jobs.get(job.jobId, {}, { signal });
  let hasStarted = status !== 'delayed' && status !== 'queued';
  for await (const event of events) {
    hasStarted ||= event.event === 'JobStarted' && event.data.job_id === job.jobId;
    if (!hasStarted) continue;
    await showEvent(client, event, answer, progress);
    const item = itemOf(event);
    if (item !== null) tree.asked(item, label);
    const over = answeredBy(event);
    if (over !== null) tree.answered(over);
    if (event.event === 'WorkerSpawned') followChild(tree, event.data, label);
  }
}

/** Shows an event in the answer and in the progress, unless they are null. */
export async function showEvent(
  client: Client,
  event: StreamEvent,
  answer: AnswerText | null,
  progress: Progress | null,
): Promise<void> {
  answer?.receive(event);
  if (event.event === 'MessageCompleted' && event.data.role === 'assistant') {
    const message = await client.contexts.messages.get(event.data.context_id, event.data.message_id);
    answer?.complete(message);
    progress?.calls(message);
  }
  await progress?.receive(event);
}

/** Follows the job of a spawned worker. Errors are ignored, for example when the worker was deleted. */
export function followChild(
  tree: FollowedTree,
  spawned: { worker_id: string; job_id: string; name: string },
  label: string,
): void {
  if (tree.children.size >= MOST_CHILDREN) return;
  const follow = async (): Promise<void> => {
    const { context_id } = await tree.client.workers.get(spawned.worker_id, { signal: tree.signal });
    const job = { contextId: context_id, jobId: spawned.job_id, after: 0 };
    await receive(tree, job, `${label}${oneLine(spawned.name)}: `, null);
  };
  const child = follow()
    .catch(() => undefined)
    .finally(() => tree.children.delete(child));
  tree.children.add(child);
}
