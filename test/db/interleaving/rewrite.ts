// The driver with a say in the text of statements, so that a test can break one.
import type postgres from 'postgres';

/** The text to be sent instead; null: as it is. */
export type Rewrite = (text: string) => string | null;

type Driver = typeof postgres;

export function rewriting(driver: Driver, law: { rewrite: Rewrite | null }): Driver {
  return new Proxy(driver, {
    apply: (target, self, args) => wrap(Reflect.apply(target, self, args), law),
  });
}

function wrap<Client extends postgres.Sql | postgres.TransactionSql>(
  client: Client,
  law: { rewrite: Rewrite | null },
): Client {
  return new Proxy(client, {
    get(target, member, receiver) {
      if (member === 'unsafe') {
        const unsafe: Client['unsafe'] = (text, ...rest) =>
          target.unsafe(law.rewrite?.(text) ?? text, ...rest);
        return unsafe;
      }
      if (member === 'begin' && 'begin' in target) {
        return (work: (tx: postgres.TransactionSql) => Promise<unknown>) =>
          target.begin((tx) => work(wrap(tx, law)));
      }
      return Reflect.get(target, member, receiver);
    },
  });
}
