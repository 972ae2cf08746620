/**
 * What is heard of a job by the stream of its context, and of the workers that it spawns by theirs: what they do on stderr, and
 * what waits for a person, whoever in the tree it comes from.
 */
import type { Client, StreamEvent } from '../../client/index.ts';
import { answeredBy, itemOf } from '../asking/item.ts';
import type { Item } from '../asking/item.ts';
import { oneLine } from '../terminal/safe.ts';
import type { Screen } from '../terminal/screen.ts';
import type { AnswerText } from './answer-text.ts';
import { openProgress } from './progress.ts';

export type Listener = {
  client: Client;
  screen: Screen;
  quiet: boolean;
  /** Something waits for a person. */
  asked(item: Item, label: string): void;
  /** It does not any more. */
  answered(toolCallId: string): void;
  /** Ends the following, not the job. */
  signal: AbortSignal;
};

export type Followed = {
  contextId: string;
  jobId: string;
  /** The number in the context after which the job is followed. */
  after: number;
};

/** A listener, and the workers below that it follows now. */
export type Family = Listener & { children: Set<Promise<void>> };

/** Workers whose own streams are followed at once. */
const MOST_CHILDREN = 50;

/** To the end of the job. `label`: of a worker below, with all that are between. */
export async function receive(
  family: Family,
  job: Followed,
  label: string,
  answer: AnswerText | null,
): Promise<void> {
  const { client, screen, signal, quiet } = family;
  const progress = openProgress(client, screen, label);
  const isEnd = (event: StreamEvent): boolean =>
    event.event === 'JobFinished' && event.data.job_id === job.jobId;
  let lost = false;
  const events = client.contexts.events(job.contextId, {
    after: job.after,
    signal,
    until: isEnd,
    onConnection(away) {
      if (label === '' && away !== null && !lost)
        screen.note(screen.sideInk('yellow', '… connection lost, trying again'));
      if (label === '' && away === null && lost) screen.note(screen.sideInk('dim', '… connected again'));
      lost = away !== null;
    },
  });
  // What is said before it begins belongs to a job before it in the same context.
  let mine = (await client.jobs.get(job.jobId, {}, { signal })).status !== 'queued';
  for await (const event of events) {
    mine ||= event.event === 'JobStarted' && event.data.job_id === job.jobId;
    if (!mine) continue;
    answer?.receive(event);
    if (event.event === 'MessageCompleted' && event.data.role === 'assistant') {
      const message = await client.contexts.messages.get(job.contextId, event.data.message_id);
      answer?.complete(message);
      if (!quiet) progress.calls(message);
    }
    if (!quiet) await progress.receive(event);
    const item = itemOf(event);
    if (item !== null) family.asked(item, label);
    const over = answeredBy(event);
    if (over !== null) family.answered(over);
    if (event.event === 'WorkerSpawned') adopt(family, event.data, label);
  }
}

/** Follows the job of a worker that was spawned. One that is gone has nothing to tell. */
export function adopt(
  family: Family,
  spawned: { worker_id: string; job_id: string; name: string },
  label: string,
): void {
  if (family.children.size >= MOST_CHILDREN) return;
  const follow = async (): Promise<void> => {
    const { context_id } = await family.client.workers.get(spawned.worker_id, { signal: family.signal });
    const job = { contextId: context_id, jobId: spawned.job_id, after: 0 };
    await receive(family, job, `${label}${oneLine(spawned.name)}: `, null);
  };
  const child = follow()
    .catch(() => undefined)
    .finally(() => family.children.delete(child));
  family.children.add(child);
}
