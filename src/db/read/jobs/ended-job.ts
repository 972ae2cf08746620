/** A job in one line, for the log of `nightshift dev`. */
import { sql } from 'drizzle-orm';
import type { JobId } from '../../../core/ids.ts';
import type { JobStatus } from '../../../core/run/job.ts';
import type { Executor } from '../../connection/client.ts';

export type EndedJob = {
  worker: string;
  title: string | null;
  /** `provider/model` of its last answer; null: it has none. */
  model: string | null;
  status: JobStatus;
  steps: number;
  /** Read and written, cached ones too. */
  tokens: number;
  /** From its start, or from its submit if it never started, to its end. */
  ms: number;
  /** Why it ended; null: it completed. */
  reason: string | null;
};

/** Null: the job was deleted. */
export async function endedJob(executor: Executor, id: JobId): Promise<EndedJob | null> {
  const [row] = await executor.execute<EndedJob>(sql`/* jobs.ended */
    select w.name as worker, w.title, j.status, j.steps, j.error->>'message' as reason,
      (j.input_tokens + j.output_tokens + j.cache_read_tokens + j.cache_write_tokens)::float8 as tokens,
      (select m.provider_id || '/' || m.model_id from messages m where m.context_id = j.context_id and m.job_id = j.id and m.model_id is not null
        order by m.seq desc limit 1) as model,
      (extract(epoch from j.finished_at - coalesce(j.started_at, j.created_at)) * 1000)::float8 as ms
    from jobs j join workers w on w.id = j.worker_id where j.id = ${id}`);
  return row ?? null;
}
