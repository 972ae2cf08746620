/**
 * Fingerprints of model requests. Also stores the tool lists of these requests: only worker processes know them, and
 * the API shows them later.
 */
import type { Logger } from 'pino';
import type { Memory } from '../../core/compaction/compacted.ts';
import { createFingerprinter, type Fingerprint, type Sent } from '../../core/model/fingerprint.ts';
import type { Lease } from '../../core/run/snapshot.ts';
import type { Executor } from '../../db/connection/client.ts';
import { digest } from '../../db/model-calls/digest.ts';
import { keepToolList } from '../../db/model-calls/tool-lists.ts';

/** How long a stored list is not written again, in milliseconds: a day. */
const KEPT_MS = 86_400_000;

/** Stored lists that this process remembers at most. Beyond that it forgets all of them. */
const KNOWN = 10_000;

type Tenant = Pick<Lease, 'tenantId' | 'tenantName'>;

export class Fingerprints {
  readonly #db: Executor;
  readonly #log: Pick<Logger, 'warn'>;
  readonly #fingerprinter = createFingerprinter(digest);
  /** When each list was last stored, by hash and tenant. */
  readonly #kept = new Map<string, number>();

  constructor(db: Executor, log: Pick<Logger, 'warn'>) {
    this.#db = db;
    this.#log = log;
  }

  /** Never throws, and does not wait for the database: the next call retries a list that could not be stored. */
  of(tenant: Tenant, sent: Sent, memory: Memory): Fingerprint {
    const fingerprint = this.#fingerprinter.of(sent, memory);
    void this.#keep(tenant, fingerprint.listed, sent);
    return fingerprint;
  }

  async #keep({ tenantId, tenantName }: Tenant, hash: string, { listed }: Sent): Promise<void> {
    const key = `${hash} ${tenantId}`;
    const now = Date.now();
    if (now - (this.#kept.get(key) ?? -Infinity) < KEPT_MS) return;
    if (this.#kept.size >= KNOWN) this.#kept.clear();
    this.#kept.set(key, now);
    try {
      await keepToolList(this.#db, tenantId, hash, listed);
    } catch (error) {
      this.#kept.delete(key);
      this.#log.warn({ err: error, tenant: tenantName }, 'could not store a tool list');
    }
  }
}
