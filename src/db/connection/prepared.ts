/**
 * Statements whose text is built once, not with every execution: drizzle takes longer to build a large statement than the
 * driver takes to send it.
 */
import { SQL, fillPlaceholders, sql, type Placeholder, type QueryWithTypings } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';

const dialect = new PgDialect();

/** For `execute`, not as a part of another statement. */
class Prepared extends SQL {
  readonly #query: QueryWithTypings;

  constructor(query: QueryWithTypings) {
    super([]);
    this.#query = query;
  }

  override toQuery(): QueryWithTypings {
    return this.#query;
  }
}

/**
 * `build` gets a function that makes the parameter for a value, by its name. The text is built on first use. Throws if a
 * value is missing.
 */
export function prepared<Values extends Record<string, unknown>>(
  build: (value: (name: keyof Values & string) => Placeholder) => SQL,
): (values: Values) => SQL {
  let query: QueryWithTypings | null = null;
  return (values) => {
    query ??= dialect.sqlToQuery(build((name) => sql.placeholder(name)));
    return new Prepared({ sql: query.sql, params: fillPlaceholders(query.params, values) });
  };
}
