/**
 * Keeps the list of a server's tools constant within a job, so that the prompts of the job share a prefix. A job uses
 * the list that was current when this process first saw the job; changes apply to the next job.
 */
import type { JobId } from '../../../core/ids.ts';
import type { ToolDescriptor } from '../../../core/tools/tool.ts';

/** Maximum number of remembered jobs. A forgotten job gets the current list. */
const MOST = 2_000;

export class Editions {
  readonly #byJob = new Map<JobId, readonly ToolDescriptor[]>();

  /** `current`: the server's current tools. */
  of(jobId: JobId | null, current: readonly ToolDescriptor[]): readonly ToolDescriptor[] {
    if (jobId === null) return current;
    const known = this.#byJob.get(jobId);
    if (known !== undefined) return known;
    this.#byJob.set(jobId, current);
    const [oldest] = this.#byJob.keys();
    if (this.#byJob.size > MOST && oldest !== undefined) this.#byJob.delete(oldest);
    return current;
  }
}
