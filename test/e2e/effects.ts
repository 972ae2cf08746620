// A database that tells of every durable effect, before it is sent and after it was acknowledged: statements that wrote
// rows outside transactions, and commits of transactions that wrote any.
import { PgDialect } from 'drizzle-orm/pg-core';
import type { SQLWrapper } from 'drizzle-orm';
import type { Database, Executor } from '../../src/db/client.ts';

export type Watcher = {
  /** About to be sent. Of an effect that may turn out to be none, nothing is told before. */
  before(what: string): void;
  after(what: string): void;
};

const dialect = new PgDialect();

export function watched(database: Database, watcher: Watcher): Database {
  return {
    db: watch(database.db, watcher),
    async transaction(work) {
      const written: string[] = [];
      const within: Watcher = { before: () => undefined, after: (what) => written.push(what) };
      let isTold = false;
      const tellBefore = (what: readonly string[]): void => {
        isTold = true;
        watcher.before(what.join(' + '));
      };
      // What ends a transaction is committed with it.
      const ending: Watcher = {
        before: (what) => tellBefore([...written, what]),
        after: (what) => within.after(what),
      };
      const result = await database.transaction(async (tx, last) => {
        const done = await work(watch(tx, within), watch(last, ending));
        if (written.length > 0 && !isTold) tellBefore(written);
        return done;
      });
      if (written.length > 0) watcher.after(written.join(' + '));
      return result;
    },
    read: (read, options) => database.read(read, options),
    close: (timeoutSeconds) => database.close(timeoutSeconds),
  };
}

function watch(executor: Executor, watcher: Watcher): Executor {
  return new Proxy(executor, {
    get(target, member, receiver) {
      if (member !== 'execute') return Reflect.get(target, member, receiver);
      return async (query: SQLWrapper) => {
        const what = nameOf(dialect.sqlToQuery(query.getSQL()).sql);
        if (what === 'append' || what === 'submit') watcher.before(what);
        const rows = await target.execute(query);
        if (what !== null && rows.length > 0) watcher.after(what);
        return rows;
      };
    },
  });
}

/** By which words each of the statements that write is known; null: it only reads. */
function nameOf(text: string): string | null {
  if (!/\b(insert into|delete from|update \w+( \w+)? set)\b/i.test(text)) return null;
  if (/with wanted as/.test(text)) return 'append';
  if (/barren_claims = c\.barren_claims \+ 1/.test(text)) return 'claim';
  if (/wake_seq = c\.wake_seq \+ 1,/.test(text)) return 'submit';
  if (/update processes/.test(text)) return 'declare dead';
  if (/skip locked/.test(text)) return /least\(/.test(text) ? 'revoke' : 'take due';
  return 'write';
}
