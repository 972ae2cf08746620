/**
 * Reads jobs again, one read of a job at a time. Its events, those of its child jobs and the polling may all ask for it:
 * what is asked while it is read, and shortly after, becomes one more read, so that none ends before its time.
 */

/** Time between two reads, in milliseconds: many events cost one read. */
const APART_MS = 300;

/** `all`: the job with its steps. */
export type Part = 'all' | 'steps';

export class JobReads {
  readonly #read: (jobId: string, part: Part) => Promise<unknown>;
  /** The jobs that are being read, and what is asked of them meanwhile. */
  readonly #asked = new Map<string, Part | null>();

  /** `read` must not reject. */
  constructor(read: (jobId: string, part: Part) => Promise<unknown>) {
    this.#read = read;
  }

  ask(jobId: string, part: Part): void {
    const asked = this.#asked.get(jobId);
    this.#asked.set(jobId, asked === 'all' ? 'all' : part);
    if (asked === undefined) void this.#readAsked(jobId);
  }

  async #readAsked(jobId: string): Promise<void> {
    for (;;) {
      const part = this.#asked.get(jobId) ?? null;
      if (part === null) break;
      this.#asked.set(jobId, null);
      await this.#read(jobId, part);
      await new Promise((resolve) => setTimeout(resolve, APART_MS));
    }
    this.#asked.delete(jobId);
  }
}
