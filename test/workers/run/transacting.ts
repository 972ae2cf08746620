// A fleet whose tool works in a transaction, in a database with a table of its own, under a login with a grant.
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { DATABASE_SCHEMA } from '../../../src/core/database-schema.ts';
import { DEFAULT_TENANT_NAME } from '../../../src/core/ids.ts';
import { openDatabase, type Database } from '../../../src/db/connection/client.ts';
import { addGrant } from '../../../src/db/submissions/grants.ts';
import { openToolDatabase, type ToolDatabase } from '../../../src/db/tool-transactions/tool-database.ts';
import { defineTool, type ToolReturn, type TransactionalContext } from '../../../src/index.ts';
import { createFreshDatabase } from '../../services/database.ts';
import { runnerOf } from '../../tools/invoke.ts';
import { says, startFleet, type Fleet, type FleetOptions } from '../worker-fleet.ts';

/** `toolUrl`: that of `url`, with the login of the tools. */
export type Shop = {
  url: string;
  toolUrl: string;
  role: string;
  database: Database;
  /** The login may settle calls of the default tenant. */
  grant(): Promise<unknown>;
  /** Of all that jobs and tools have written. */
  empty(): Promise<unknown>;
  drop(): Promise<void>;
};

/** `grants`: whether the login may settle calls of the default tenant. */
export async function openShop({ grants = true } = {}): Promise<Shop> {
  const own = await createFreshDatabase();
  const database = openDatabase(own.url, { max: 2 });
  const role = `shop_${randomUUID().slice(0, 8)}`;
  const run = (text: string): Promise<unknown> => database.db.execute(text);
  await run(`create role ${role} login password 'shop'`);
  await run('create table public.bookings (id bigserial primary key, call_id uuid not null, note text not null)');
  await run(`grant all on public.bookings, public.bookings_id_seq to ${role}`);
  const grant = (): Promise<unknown> =>
    database.transaction((tx) => addGrant(tx, DATABASE_SCHEMA, { role, tenant: DEFAULT_TENANT_NAME }));
  if (grants) await grant();
  return {
    url: own.url,
    toolUrl: Object.assign(new URL(own.url), { username: role, password: 'shop' }).href,
    role,
    database,
    grant,
    empty: () =>
      run(`do $$ begin execute (
        select 'truncate public.bookings, ' || string_agg(format('%I.%I', schemaname, tablename), ', ') from pg_tables
        where schemaname = '${DATABASE_SCHEMA}' and tablename not in ('migrations', 'tenants', 'submission_grants')
      ); end $$`),
    async drop() {
      await run(`drop owned by ${role}`);
      await run(`drop role ${role}`);
      await database.close();
      await own.drop();
    },
  };
}

/** The connections of the tools. */
export function toolsOf({ url, toolUrl }: Pick<Shop, 'url' | 'toolUrl'>, database: Database): Promise<ToolDatabase> {
  return openToolDatabase(database, { url: toolUrl === '' ? url : toolUrl, max: 3, schema: DATABASE_SCHEMA });
}

export type Book = (context: TransactionalContext) => ToolReturn | Promise<ToolReturn>;

type Options = Partial<FleetOptions> & {
  timeoutMs?: number;
  /** In place of the connections of the tools. */
  between?: (tools: ToolDatabase) => ToolDatabase;
};

/** A fleet whose model calls `book` once, and then ends. */
export async function startBooking(
  shop: Shop,
  book: Book,
  { timeoutMs, between = (tools) => tools, ...more }: Options = {},
): Promise<Fleet> {
  const tool = defineTool({
    name: 'book',
    description: 'd',
    transactional: true,
    input_schema: { type: 'object' },
    execute: (_, context) => book(context),
    ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }),
  });
  const runner = runnerOf([tool]);
  return startFleet({
    model: ({ messages }) => (messages.length === 1 ? says('', { name: 'book', input: {} }) : says('done')),
    tools: { book: { effect: 'idempotent', endsItself: true, execute: (...given) => runner.execute(...given) } },
    databaseUrl: shop.url,
    toolDatabase: async (database) => between(await toolsOf(shop, database)),
    ...more,
  });
}

export async function writeBooking({ tx, tool_call_id }: TransactionalContext, note = 'booked'): Promise<string> {
  await tx.query('insert into public.bookings (call_id, note) values ($1, $2)', [tool_call_id, note]);
  return note;
}

/** The notes of the bookings, in order. */
export async function bookings({ query }: Pick<Fleet, 'query'>): Promise<unknown[]> {
  return (await query('select note from public.bookings order by id')).map(({ note }) => note);
}

/** The ledger of the only call. */
export function ledger({ query }: Pick<Fleet, 'query'>): Promise<Record<string, unknown>[]> {
  return query('select number, outcome from tool_executions order by number');
}

/**
 * Makes the trigger function of the schema `public` run within the commit, for rows that are inserted. What is deferred
 * runs before; a trigger of that moment puts this one off further.
 */
export function inCommit(table: string, name: string): string[] {
  return [
    `create constraint trigger ${name} after update on ${table} deferrable initially deferred
      for each row execute function public.${name}()`,
    `create function public.put_off() returns trigger language plpgsql as $$
      begin set constraints public.${name} deferred; update ${table} set note = note where call_id = new.call_id; return null; end $$`,
    `create constraint trigger put_off after insert on ${table} deferrable initially deferred
      for each row execute function public.put_off()`,
  ];
}

/** A shop for all tests of a file, emptied after each; and what starts a fleet that is closed after its test. */
export function shopOfFile() {
  let shop: Shop;
  let fleet: Fleet | null = null;
  beforeAll(async () => {
    shop = await openShop();
  });
  afterEach(async () => {
    await fleet?.close();
    fleet = null;
    await shop.empty();
  });
  afterAll(() => shop.drop());
  return {
    shop: () => shop,
    /** `of`: another shop. */
    booking: async (book: Book, options: Options = {}, of: Shop = shop): Promise<Fleet> => {
      fleet = await startBooking(of, book, options);
      return fleet;
    },
  };
}
