// The service beside the platform: its tables, its logins, and its outbox in a database of its own, made with the
// commands that an operator has for it.
import { DATABASE_SCHEMA } from '../../src/core/database-schema.ts';
import { DEFAULT_TENANT_NAME } from '../../src/core/ids.ts';
import { connected } from '../services/connected.ts';
import { MAKE_SALES, SALES } from './service-tools.ts';

/** `url`: of its database, as its owner. `toolsUrl`: of the database of the platform. `relayUrl`: may relay the outbox. */
export type Shop = { url: string; clientUrl: string; toolsUrl: string; relayUrl: string };

const DATABASE = 'shop';
const CLIENT = 'shop_client';
const TOOLS = 'shop_tools';
const RELAY = 'shop_relay';
const PASSWORD = 'of-chaos';

export const SCHEMA = DATABASE_SCHEMA;
/** One row for each job that the service has enqueued, of the same transaction. */
export const ORDERS = 'public.orders';

/** `run`: a command of the platform. Its tables are there. */
export async function openShop(databaseUrl: string, run: (args: readonly string[]) => Promise<void>): Promise<Shop> {
  await connected(databaseUrl, async (sql) => {
    for (const role of [CLIENT, TOOLS, RELAY]) await sql.unsafe(`create role ${role} login password '${PASSWORD}'`);
    await sql.unsafe(MAKE_SALES);
    await sql.unsafe(`grant insert on ${SALES} to ${TOOLS}`);
    await sql.unsafe(`grant usage on sequence ${SALES}_id_seq to ${TOOLS}`);
    await sql.unsafe(`create database ${DATABASE}`);
  });
  const url = Object.assign(new URL(databaseUrl), { pathname: `/${DATABASE}` }).href;
  await connected(url, async (sql) => {
    await sql.unsafe(`create table ${ORDERS} (id bigserial primary key, job_id uuid not null unique)`);
    await sql.unsafe(`grant insert on ${ORDERS} to ${CLIENT}`);
    await sql.unsafe(`grant usage on sequence ${ORDERS}_id_seq to ${CLIENT}`);
  });
  await run(['outbox', 'install', '--database-url', url, '--schema', SCHEMA, '--grant', CLIENT, '--relay', RELAY]);
  await run(['submissions', 'grant', '--role', TOOLS, '--tenant', DEFAULT_TENANT_NAME]);
  return {
    url,
    clientUrl: withLogin(url, CLIENT),
    toolsUrl: withLogin(databaseUrl, TOOLS),
    relayUrl: withLogin(url, RELAY),
  };
}

/** The same URL, behind a network. */
export function behind(url: string, network: { url: string }): string {
  const { hostname, port } = new URL(network.url);
  return Object.assign(new URL(url), { hostname, port }).href;
}

function withLogin(url: string, username: string): string {
  return Object.assign(new URL(url), { username, password: PASSWORD }).href;
}
