/** How a job of a worker in memory stands, as other workers learn it. */
import type { JobId, WorkerId } from '../../core/ids.ts';
import type { WorkerOutcome } from '../../db/run/team.ts';
import type { MemoryContext } from './context.ts';

/** `jobId` null: the last job that has ended. */
export function outcomeOf(
  { workerId, context }: { workerId: WorkerId; context: MemoryContext },
  jobId: JobId | null,
): WorkerOutcome {
  const id = jobId ?? [...context.ended.keys()].at(-1) ?? null;
  const none = { workerId, jobId: id, error: null, output: null };
  if (id === null) return { ...none, status: null };
  const ended = context.ended.get(id);
  if (ended === undefined) return { ...none, status: unfinished(context, id) };
  const { outcome } = ended;
  const outputId = 'outputId' in outcome ? outcome.outputId : null;
  const output = context.messages.find((message) => message.id === outputId)?.content ?? null;
  return { ...none, status: outcome.status, error: 'error' in outcome ? outcome.error : null, output };
}

/** Queued, running, or ended; null: it never had one. */
export function lastJobOf({ current, queue, ended }: MemoryContext): JobId | null {
  return queue.at(-1)?.id ?? current.job?.id ?? [...ended.keys()].at(-1) ?? null;
}

function unfinished({ current, queue }: MemoryContext, id: JobId): WorkerOutcome['status'] {
  if (current.job?.id === id) return current.job.status;
  return queue.some((job) => job.id === id) ? 'queued' : null;
}
