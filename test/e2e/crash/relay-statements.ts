// A database that reports the statements of a relay, each before it is sent and after it was answered: in the installation
// those that write rows of the outbox, in the database of the service all of its transactions, with their commits.
import { PgDialect } from 'drizzle-orm/pg-core';
import type { SQLWrapper } from 'drizzle-orm';
import type { Database, DatabaseAccess, Executor } from '../../../src/db/connection/client.ts';
import { tagOf } from '../../services/statements.ts';
import type { Watcher } from './effects.ts';

const dialect = new PgDialect();

/** Beside what `database` reports itself: the rows are written by several statements. */
export function watchedInstallation(database: Database, watcher: Watcher): Database {
  const written = ['outbox.add_receipts', 'submissions.relay'];
  return watchedTransactions(database, (executor) =>
    watch(executor, watcher, (tag) => (tag !== null && written.includes(tag) ? tag : null)),
  );
}

export function watchedOutbox(database: Database, watcher: Watcher): Database {
  const report = (executor: Executor): Executor => watch(executor, watcher, (tag) => tag ?? 'read rows');
  const watched = watchedTransactions(database, report, () => watcher.before('commit rows'));
  const access: DatabaseAccess = {
    ...watched,
    async transaction(work, options) {
      const result = await watched.transaction(work, options);
      watcher.after('commit rows');
      return result;
    },
  };
  return { ...access, everywhere: access, close: (timeoutSeconds) => database.close(timeoutSeconds) };
}

function watchedTransactions(
  database: Database,
  watched: (executor: Executor) => Executor,
  beforeCommit: () => void = () => undefined,
): Database {
  const access: DatabaseAccess = {
    db: database.db,
    read: (read, options) => database.read(read, options),
    transaction: (work, options) =>
      database.transaction(async (tx, last) => {
        const result = await work(watched(tx), watched(last));
        beforeCommit();
        return result;
      }, options),
  };
  return { ...access, everywhere: access, close: (timeoutSeconds) => database.close(timeoutSeconds) };
}

/** `kindOf` null: it is not reported. */
function watch(executor: Executor, watcher: Watcher, kindOf: (tag: string | null) => string | null): Executor {
  return new Proxy(executor, {
    get(target, member, receiver) {
      if (member !== 'execute') return Reflect.get(target, member, receiver);
      return async (query: SQLWrapper) => {
        const what = kindOf(tagOf(dialect.sqlToQuery(query.getSQL()).sql));
        if (what !== null) watcher.before(what);
        const rows = await target.execute(query);
        if (what !== null) watcher.after(what);
        return rows;
      };
    },
  });
}
