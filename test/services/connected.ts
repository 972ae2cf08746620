// One connection of its own, without the platform's client.
import postgres from 'postgres';

export type ConnectionOptions = { searchPath?: string; connectTimeoutS?: number };

/** `work` on a connection that is closed afterwards. */
export async function connected<T>(
  url: string,
  work: (sql: postgres.Sql) => PromiseLike<T>,
  { searchPath, connectTimeoutS = 30 }: ConnectionOptions = {},
): Promise<T> {
  const sql = postgres(url, {
    max: 1,
    connect_timeout: connectTimeoutS,
    onnotice: () => undefined,
    ...(searchPath !== undefined && { connection: { search_path: searchPath } }),
  });
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** The rows of one statement. */
export async function rowsOf(
  url: string,
  text: string,
  options?: ConnectionOptions,
): Promise<Record<string, unknown>[]> {
  return connected(url, async (sql) => [...(await sql.unsafe(text))], options);
}
