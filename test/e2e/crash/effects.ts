// A database that reports every durable effect, before it is sent and after it was acknowledged: statements that wrote
// rows outside transactions, and commits of transactions that wrote any.
import { PgDialect } from 'drizzle-orm/pg-core';
import type { SQLWrapper } from 'drizzle-orm';
import type { Database, DatabaseAccess, Executor } from '../../../src/db/connection/client.ts';
import { isWrite, tagOf } from '../../services/statements.ts';

export type Watcher = {
  /** About to be sent. An effect that may turn out to be none is not reported before. */
  before(what: string): void;
  after(what: string): void;
};

const dialect = new PgDialect();

export function watched(database: Database, watcher: Watcher): Database {
  const access = watchedAccess(database, watcher);
  return { ...access, everywhere: access, close: (timeoutSeconds) => database.close(timeoutSeconds) };
}

function watchedAccess(database: DatabaseAccess, watcher: Watcher): DatabaseAccess {
  return {
    db: watch(database.db, watcher),
    async transaction(work) {
      const written: string[] = [];
      const within: Watcher = { before: () => undefined, after: (what) => written.push(what) };
      let isReported = false;
      const reportBefore = (what: readonly string[]): void => {
        isReported = true;
        watcher.before(what.join(' + '));
      };
      // The last statement of a transaction is committed with it.
      const ending: Watcher = {
        before: (what) => reportBefore([...written, what]),
        after: (what) => within.after(what),
      };
      const result = await database.transaction(async (tx, last) => {
        const done = await work(watch(tx, within), watch(last, ending));
        if (written.length > 0 && !isReported) reportBefore(written);
        return done;
      });
      if (written.length > 0) watcher.after(written.join(' + '));
      return result;
    },
    read: (read, options) => database.read(read, options),
  };
}

function watch(executor: Executor, watcher: Watcher): Executor {
  return new Proxy(executor, {
    get(target, member, receiver) {
      if (member !== 'execute') return Reflect.get(target, member, receiver);
      return async (query: SQLWrapper) => {
        const what = kindOf(dialect.sqlToQuery(query.getSQL()).sql);
        if (what === 'append' || what === 'submit' || what === 'create') watcher.before(what);
        const rows = await target.execute(query);
        if (what !== null && (rows.length > 0 || RETURNS_NO_ROWS.includes(what))) watcher.after(what);
        return rows;
      };
    },
  });
}

/** Kinds of effects by the tags of their statements. All other writes are of one kind. */
const KINDS: Readonly<Record<string, string>> = {
  'contexts.append': 'append',
  'contexts.claim': 'claim',
  'contexts.claim_many': 'claim',
  'contexts.revoke': 'revoke',
  'contexts.take_due': 'take due',
  'jobs.release': 'release',
  'jobs.submit': 'submit',
  'jobs.submit_many': 'submit',
  'processes.declare_dead': 'declare dead',
  'submissions.take': 'take submissions',
  'webhooks.clear_outbox': 'make deliveries',
  'webhooks.lease': 'lease a webhook',
  'webhooks.store_health': 'store attempts',
  'workers.create': 'create',
};

/** Kinds that are effects although they return no rows. */
const RETURNS_NO_ROWS = ['make deliveries'];

/** Null: it only reads. */
function kindOf(text: string): string | null {
  return isWrite(text) ? (KINDS[tagOf(text) ?? ''] ?? 'write') : null;
}
