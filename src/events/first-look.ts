/**
 * Jobs may have ended before a request waits for them. PostgreSQL is asked by one statement at a time, for all jobs that
 * were added while the previous one was under way.
 */
import type { Executor } from '../db/connection/client.ts';
import { keyOf, readEnded } from '../db/read/messages/event-views.ts';
import type { Watched } from './job-waits.ts';

export class FirstLook {
  readonly #db: Executor;
  readonly #found: (ended: ReadonlySet<string>) => void;
  #added: Watched[] = [];
  #isUnderWay = false;

  /**
   * `found`: receives the keys, by `keyOf`, of jobs that ended or do not exist; and of all jobs whose look failed, so that
   * their requests fail now, not at the end of their wait.
   */
  constructor(db: Executor, found: (ended: ReadonlySet<string>) => void) {
    this.#db = db;
    this.#found = found;
  }

  add(job: Watched): void {
    this.#added.push(job);
    if (!this.#isUnderWay) void this.#look();
  }

  async #look(): Promise<void> {
    this.#isUnderWay = true;
    while (this.#added.length > 0) {
      const jobs = this.#added.splice(0);
      const all = new Set(jobs.map(({ tenantId, jobId }) => keyOf(tenantId, jobId)));
      this.#found(await readEnded(this.#db, jobs).catch(() => all));
    }
    this.#isUnderWay = false;
  }
}
