// Jobs in transactions of other libraries, and the API within a service.
import {
  NightshiftEnqueueError,
  NightshiftStartError,
  createNightshift,
  type EnqueueJob,
  type Enqueued,
  type FetchHandler,
  type NightshiftCaller,
  type SqlRunner,
} from 'nightshift';
import type { PoolClient } from 'pg';
import type postgres from 'postgres';

const nightshift = await createNightshift({ databaseUrl: 'postgres://127.0.0.1/shop', logger: 'silent' });
const order: EnqueueJob = { tenant: 'acme', name: 'order', role: 'clerk', input: 'ship A-17' };

export async function inTransactions(sql: postgres.Sql, client: PoolClient, drizzle: Drizzle, prisma: Prisma) {
  const first: Enqueued = await sql.begin((tx) => nightshift.enqueue(tx, order));
  const worker: string | null = first.worker_id;
  await nightshift.enqueue(client, { tenant: 'acme', context_id: first.context_id, input: { content: 'and B-04' } });
  await nightshift.enqueue(drizzle, order);
  await nightshift.enqueue(prisma, order);
  const own: SqlRunner = { query: async (text, parameters) => [text, ...parameters] };
  await nightshift.enqueue(own, { ...order, job_id: '01890000-0000-7000-8000-000000000000' });
  // @ts-expect-error: a job has a tenant
  await nightshift.enqueue(own, { name: 'order', input: 'ship' });
  // @ts-expect-error: an input has no delay here
  await nightshift.enqueue(own, { tenant: 'acme', name: 'order', input: { content: 'ship', after_s: 60 } });
  // @ts-expect-error: nothing that runs SQL
  await nightshift.enqueue({}, order);
  return worker;
}

/** What is used of a transaction of Drizzle, and of Prisma. */
type Drizzle = { execute(query: string | { readonly sql: string }): PromiseLike<unknown> };
type Prisma = { $queryRawUnsafe<T = unknown>(query: string, ...values: unknown[]): PromiseLike<T> };

export async function handlers(): Promise<FetchHandler> {
  type Known = { user?: { id: string }; headers: Record<string, string | undefined> };
  const caller: NightshiftCaller = { tenant: 'acme', scopes: ['read', 'run'], user: 'alice' };
  await nightshift.nodeHandler<Known>({ path: '/agents', authenticate: ({ user }) => (user ? caller : null) });
  await nightshift.fastifyPlugin({ authenticate: async () => caller });
  // @ts-expect-error: a scope that does not exist
  await nightshift.fetchHandler({ authenticate: () => ({ tenant: 'acme', scopes: ['write'] }) });
  return nightshift.fetchHandler({ authenticate: ({ headers }) => (headers.has('cookie') ? caller : null) });
}

export function reasonOf(error: unknown): string {
  if (error instanceof NightshiftEnqueueError) return error.code === 'not_granted' ? 'grant' : error.faults.join();
  if (error instanceof NightshiftStartError) return error.code === 'not_migrated' ? 'migrate' : error.message;
  // @ts-expect-error: it may be anything
  return error.message;
}
