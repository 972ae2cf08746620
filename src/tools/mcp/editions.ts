/**
 * Which list of a server's tools a job works with: the one that stood when the job was first seen here, so that its prompts
 * begin alike to the end. What has changed is taken by the next job.
 */
import type { JobId } from '../../core/ids.ts';
import type { ToolDescriptor } from '../../core/tool.ts';

/** Jobs that are remembered; the oldest is forgotten, and takes what stands then. */
const MOST = 2_000;

export class Editions {
  readonly #byJob = new Map<JobId, readonly ToolDescriptor[]>();

  /** `current`: what the server offers now. */
  of(jobId: JobId | null, current: readonly ToolDescriptor[]): readonly ToolDescriptor[] {
    if (jobId === null) return current;
    const held = this.#byJob.get(jobId);
    if (held !== undefined) return held;
    this.#byJob.set(jobId, current);
    const [oldest] = this.#byJob.keys();
    if (this.#byJob.size > MOST && oldest !== undefined) this.#byJob.delete(oldest);
    return current;
  }
}
