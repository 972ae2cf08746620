// The connections of a test database, which its next user goes on with: a connection costs PostgreSQL 4 ms, and plans
// each statement again.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  databaseOn,
  openPool,
  type Database,
  type DatabaseAccess,
  type DatabaseOptions,
} from '../../src/db/connection/client.ts';
import type { Pool } from '../../src/db/connection/pool.ts';

/** `lent`: what uses it now. */
type Kept = { pool: Pool; key: string; name: string; lent: { isQuiet(): boolean } | null };

const CLOSES_WITHIN_MS = 5_000;

export class KeptPools {
  readonly #url: string;
  #kept: Kept[] = [];

  constructor(url: string) {
    this.#url = url;
  }

  /** The names of the connections that are kept. */
  get names(): string[] {
    return this.#kept.map(({ name }) => name);
  }

  /** As `openDatabase`, through connections that no other test uses now. */
  open(options: DatabaseOptions = {}): Database {
    // Without the functions, which are the user's own.
    const key = JSON.stringify(options);
    let kept = this.#kept.find((one) => one.lent === null && one.key === key);
    if (kept === undefined) {
      kept = { pool: openPool(this.#url, options), key, name: options.name ?? 'nightshift', lent: null };
      this.#kept.push(kept);
    }
    const lent = lend(kept.pool, options);
    kept.lent = lent;
    return lent.database;
  }

  /** Their test has ended. Connections with unfinished work are closed. */
  async takeBack(): Promise<void> {
    const busy = this.#kept.filter(({ lent }) => lent !== null && !lent.isQuiet());
    this.#kept = this.#kept.filter((one) => !busy.includes(one));
    for (const one of this.#kept) one.lent = null;
    await Promise.all(busy.map(({ pool }) => pool.close(0)));
  }

  async close(): Promise<void> {
    await Promise.all(this.#kept.splice(0).map(({ pool }) => pool.close(1)));
  }
}

function lend(pool: Pool, options: DatabaseOptions): { database: Database; isQuiet(): boolean } {
  const running = new Set<Promise<unknown>>();
  let state: 'open' | 'closing' | 'closed' = 'open';
  const refuseUnless = (allowed: boolean): void => {
    if (!allowed) throw new Error('This database was closed.');
  };
  const access = databaseOn(pool, {
    ...options,
    async hook(text) {
      // Transactions that are running when it closes may end.
      refuseUnless(state !== 'closed');
      await options.hook?.(text);
    },
  });
  const counted = async <T>(work: () => Promise<T>): Promise<T> => {
    refuseUnless(state === 'open');
    const started = work();
    running.add(started);
    try {
      return await started;
    } finally {
      running.delete(started);
    }
  };
  const whileOpen = (of: DatabaseAccess): DatabaseAccess => ({
    db: of.db,
    transaction: (work, given) => counted(() => of.transaction(work, given)),
    read: (work, given) => counted(() => of.read(work, given)),
  });
  return {
    isQuiet: () => running.size === 0,
    database: {
      ...whileOpen(access),
      everywhere: whileOpen(access.everywhere),
      async close() {
        if (state === 'open') state = 'closing';
        await Promise.race([Promise.allSettled(running), sleep(CLOSES_WITHIN_MS, undefined, { ref: false })]);
        state = 'closed';
      },
    },
  };
}
