/** Runs one statement in a transaction of the service, with the library that the service uses. */
import type { SqlRunner } from './types.ts';

/** `$1`, `$2` in the text stand for the parameters, each once. */
type Statement = { text: string; parameters: readonly string[] };

/**
 * Whether it is a recognisable pool or client, of which each statement may be a transaction of its own: postgres.js (`sql`),
 * a pool of `pg`, a database of Drizzle, a client of Prisma.
 */
export function isPool(tx: SqlRunner): boolean {
  const has = (name: string): boolean => Reflect.get(Object(tx), name) !== undefined;
  // An entity manager of TypeORM has `transaction` also within one; it is run by its `query`.
  const isDrizzle = has('transaction') && !hasMethod(tx, 'query');
  return (has('begin') && !has('savepoint')) || (isDrizzle && !has('rollback')) || has('$connect') || has('totalCount');
}

/** Null: it is nothing that can run SQL. */
export function runnerOf(tx: SqlRunner): ((statement: Statement) => PromiseLike<unknown>) | null {
  if (hasMethod(tx, '$queryRawUnsafe')) return ({ text, parameters }) => tx.$queryRawUnsafe(text, ...parameters);
  if (hasMethod(tx, 'unsafe')) return ({ text, parameters }) => tx.unsafe(text, [...parameters]);
  if (hasMethod(tx, 'query')) return ({ text, parameters }) => tx.query(text, [...parameters]);
  if (hasMethod(tx, 'execute')) return (statement) => tx.execute(inOneText(statement));
  return null;
}

/** Drizzle has no method with a text and parameters. Base64 contains nothing that SQL or Drizzle reads. */
function inOneText({ text, parameters }: Statement): string {
  return parameters.reduce((whole, value, at) => whole.replace(`$${at + 1}`, () => textOf(value)), text);
}

function textOf(value: string): string {
  return `convert_from(decode('${Buffer.from(value).toString('base64')}', 'base64'), 'UTF8')`;
}

function hasMethod<Name extends string>(
  tx: SqlRunner,
  name: Name,
): tx is Extract<SqlRunner, Record<Name, (...values: never[]) => unknown>> {
  const value: unknown = tx;
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  return typeof Reflect.get(value, name) === 'function';
}
