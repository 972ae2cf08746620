/**
 * How long tenant B waits for the end of a job that needs a few milliseconds, while tenant A uses all slots in one of
 * several ways, with one and with four worker processes of together 100 slots, with Redis and without it; and how evenly
 * backlogged tenants share the slots. Nightshift alone: the baseline knows no tenants.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../src/dev/free-port.ts';
import type { Bench, Scenario } from '../bench.ts';
import { alone, percentile, type Figure } from '../figures.ts';
import { nightshiftWith } from '../nightshift/system.ts';
import type { Running } from '../process.ts';
import { openSystem, type System } from '../system.ts';

const SECONDS = 60;
const EVERY_MS = 250;
const SLOTS = 100;
/** How long B may still wait after the last of its inputs, in seconds. */
const PATIENCE_S = 20;
/** Long enough for the whole measurement. */
const HELD = 'wait: 10m\nsay: at last';

const keyOf = (tenant: string): string => `bench-key-of-tenant-${tenant}`;
const TENANTS = ['a', 'b', ...Array.from({ length: 8 }, (_, n) => `t${n}`)];

type Load = (client: Client) => Promise<unknown>;

/** What A does before B begins. */
const SITUATIONS: Readonly<Record<string, Load>> = {
  nothing: async () => undefined,
  '2,000 contexts of 3 s each': (client) => client.createAll('a', 2_000, 'wait: 3s\nsay: done'),
  '130 calls of ten minutes': (client) => client.createAll('a', 130, HELD),
  'one input that makes 40 × 40 workers': (client) => client.createAll('a', 1, treeOf(40, 40)),
  '100 contexts with 1,000 inputs of 0.5 s each': async (client) => {
    const contexts = await client.createAll('a', 100, 'wait: 500ms\nsay: 0');
    await mapAtOnce(Array.from({ length: 999 }, () => contexts).flat(), (id) =>
      client.send('a', `/api/contexts/${id}/messages`, { content: 'wait: 500ms\nsay: next' }),
    );
  },
  'calls of ten minutes, and those of eight other tenants': async (client) => {
    await client.createAll('a', 130, HELD);
    for (let n = 0; n < 8; n += 1) await client.createAll(`t${n}`, 20, HELD);
  },
  // A user has no reserved slot: one of different lengths ends every 30 ms.
  '3,000 contexts of 1 to 5 s of another user of B': (client) =>
    Promise.all([1, 2, 3, 4, 5].map((s) => client.createAll('b', 600, `wait: ${s}s\nsay: done`, 'busy'))),
};

type Client = {
  send(tenant: string, path: string, body: object): Promise<unknown>;
  /** Returns the ids of the contexts. */
  createAll(tenant: string, count: number, content: string, user?: string): Promise<string[]>;
};

type Setup = { situation: string; processes: number; isRedisUp: boolean };

export const fairness: Scenario = {
  about: 'how long one tenant waits while others use all slots, and how slots are shared',
  async run(bench) {
    const figures: Figure[] = [];
    for (const isRedisUp of [true, false]) {
      for (const processes of [1, 4]) {
        for (const situation of situationsOf(bench)) {
          figures.push(...(await measureWaits(bench, { situation, processes, isRedisUp })));
        }
      }
    }
    if (bench.situation !== null) return figures;
    for (const tenants of [2, 3, 5, 8]) figures.push(await measureShares(bench, tenants));
    return figures;
  },
};

function situationsOf({ situation }: Bench): string[] {
  const found = Object.keys(SITUATIONS).filter((name) => situation === null || name.includes(situation));
  if (found.length === 0) throw new Error(`No situation of fairness has "${situation}" in its name.`);
  return found;
}

async function measureWaits(bench: Bench, setup: Setup): Promise<Figure[]> {
  const { situation, processes, isRedisUp } = setup;
  return withWorkers(bench, setup, SLOTS / processes, async (system, client) => {
    await SITUATIONS[situation]?.(client);
    await pause(3_000);
    const waits = await postAsB(bench, system, client);
    const [middle, worst] = [percentile(waits, 0.5), Math.max(...waits)];
    const where = `${situation}; ${processes} processes, ${isRedisUp ? 'Redis' : 'no Redis'}`;
    bench.say(`${where}: p50 ${middle.toFixed(0)} ms, worst ${worst.toFixed(0)} ms, ${waits.length} jobs`);
    const bound = isRedisUp ? 3_000 : 4_000;
    return [
      alone(`B behind ${where}, p50`, 'ms', middle, isRedisUp ? { of: 'value', is: 'at most', bound: 1_000 } : null),
      alone(`B behind ${where}, worst`, 'ms', worst, { of: 'value', is: 'at most', bound }),
    ];
  });
}

/** From the moment at which an input is sent to the end of its job, in milliseconds. Not ended in time: infinite. */
async function postAsB({ signal }: Bench, { sql }: System, client: Client): Promise<number[]> {
  const sentAt = new Map<string, number>();
  const sending: Promise<void>[] = [];
  for (let count = 0; count < (SECONDS * 1_000) / EVERY_MS; count += 1) {
    signal.throwIfAborted();
    const at = Date.now();
    sending.push(client.createAll('b', 1, 'say: hi').then(([id]) => void sentAt.set(id ?? '', at)));
    await pause(EVERY_MS);
  }
  await Promise.all(sending);
  const ids = JSON.stringify([...sentAt.keys()]);
  type Row = { id: string; ended: number | null };
  const read = () => sql<Row[]>`
    select context_id as id, (extract(epoch from finished_at) * 1000)::float8 as ended from jobs
    where context_id in (select value::uuid from jsonb_array_elements_text(${ids}::text::jsonb))`;
  let rows: Row[] = await read();
  for (let s = 0; s < PATIENCE_S && rows.some(({ ended }) => ended === null); s += 1) {
    await pause(1_000);
    rows = await read();
  }
  return rows.map(({ id, ended }) => (ended ?? Infinity) - (sentAt.get(id) ?? 0));
}

/** Jain's index of the slot-seconds of tenants that all have more work than slots: 1 if all get the same. */
async function measureShares(bench: Bench, tenants: number): Promise<Figure> {
  const setup = { situation: 'shares', processes: 2, isRedisUp: true };
  return withWorkers(bench, setup, 10, async ({ sql }, client) => {
    const names = TENANTS.slice(0, tenants);
    // The first tenant has posted all of its work before the others begin; their jobs are shorter or longer.
    for (const [n, name] of names.entries()) await client.createAll(name, 400, `wait: ${1_000 + 200 * n}ms\nsay: done`);
    const from = Date.now() + 1_000;
    const until = from + 15_000;
    await pause(until - Date.now() + 500);
    const rows = await sql<{ seconds: number }[]>`
      select sum(extract(epoch from least(coalesce(j.finished_at, now()), to_timestamp(${until / 1_000}))
        - greatest(j.started_at, to_timestamp(${from / 1_000}))))::float8 as seconds
      from jobs j where j.started_at < to_timestamp(${until / 1_000})
        and coalesce(j.finished_at, now()) > to_timestamp(${from / 1_000})
      group by j.tenant_id`;
    const shares = rows.map(({ seconds }) => seconds);
    const sum = shares.reduce((total, one) => total + one, 0);
    const index = sum ** 2 / (tenants * shares.reduce((total, one) => total + one ** 2, 0));
    bench.say(
      `${tenants} tenants: ${shares.map((one) => one.toFixed(0)).join(', ')} slot-seconds, index ${index.toFixed(3)}`,
    );
    return alone(`slots of ${tenants} backlogged tenants, Jain's index`, '', index, {
      of: 'value',
      is: 'at least',
      bound: 0.95,
    });
  });
}

async function withWorkers<T>(
  bench: Bench,
  { processes, isRedisUp }: Setup,
  concurrency: number,
  work: (system: System, client: Client) => Promise<T>,
): Promise<T> {
  const place = await bench.services.place(`fairness_${(places += 1)}`);
  const kind = nightshiftWith({
    NIGHTSHIFT_API_KEYS: TENANTS.map((tenant) => `${keyOf(tenant)}:${tenant}`).join(','),
    ...(isRedisUp ? {} : { REDIS_URL: `redis://127.0.0.1:${await freePort()}` }),
  });
  const { providerUrl, format, profile } = bench;
  const system = await openSystem(kind, { place, providerUrl, format, profile }, await freePort(), bench.load);
  const workers: Running[] = [];
  try {
    for (let count = 0; count < processes; count += 1) workers.push(await system.startWorker(concurrency));
    return await work(system, clientOf(system));
  } finally {
    // Their calls would take ten minutes.
    await Promise.all(workers.map((worker) => worker.kill()));
    await system.stop();
  }
}

let places = 0;

function clientOf({ url }: System): Client {
  const send: Client['send'] = async (tenant, path, body) => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${keyOf(tenant)}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  return {
    send,
    createAll: (tenant, count, content, user) =>
      mapAtOnce(Array.from({ length: count }), async () => {
        const config = { model: 'simulated/bench', tools: ['spawn_worker', 'wait_for_workers'] };
        return contextOf(await send(tenant, '/api/workers', { name: 'w', user, config, input: { content } }));
      }),
  };
}

function contextOf(answer: unknown): string {
  if (typeof answer === 'object' && answer !== null && 'context_id' in answer) return String(answer.context_id);
  throw new Error('A worker was created without a context.');
}

/** 32 at once. */
async function mapAtOnce<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const left = items[Symbol.iterator]();
  const lane = async (): Promise<void> => {
    for (const item of left) results.push(await work(item));
  };
  await Promise.all(Array.from({ length: 32 }, lane));
  return results;
}

/** The script of a worker that makes others, and waits for them; those at the end take three seconds. */
function treeOf(...fan: readonly number[]): string {
  const [count, ...below] = fan;
  if (count === undefined) return 'wait: 3s\nsay: leaf';
  const call = `call: spawn_worker ${JSON.stringify({ input: treeOf(...below) })}`;
  return [...Array.from({ length: count }, () => call), '---', 'say: all are done'].join('\n');
}
