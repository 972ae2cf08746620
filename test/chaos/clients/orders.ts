// The service beside the platform: it enqueues jobs in transactions of its own database, some of which it rolls back.
// Some create a worker, others post to it later, or to the contexts of all other clients. A commit without an answer
// may have happened: the table of the service tells.
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import {
  DEFAULT_TENANT_NAME,
  type ContextId,
  type JobId,
  type MessageId,
  type WorkerId,
} from '../../../src/core/ids.ts';
import { BEGIN_ENQUEUE } from '../../../src/db/submissions/place.ts';
import { ids } from '../../../src/platform/ids.ts';
import type { Random } from '../random.ts';
import { ORDERS, SCHEMA, type Shop } from '../shop.ts';
import { rows } from '../world/database.ts';
import type { Order, Orders } from '../world/service.ts';
import { CONFIG } from './settings.ts';
import { soldScript, write } from './inputs.ts';

/** Clients of the service, each with a worker of its own. */
const CLIENTS = 3;
/** Orders: one for so many inputs, and at least a few. */
const INPUTS_FOR_ONE = 10;
const LEAST = 6;
const ROLLED_BACK = 0.25;
/** The share that goes to a context of all other clients. */
const ELSEWHERE = 0.3;
/** How long PostgreSQL may take for an answer, in milliseconds. */
const ANSWER_MS = 10_000;
/** How long a transaction stays open at most. */
const MOST_OPEN_MS = 800;

export type Ordering = {
  /** After the faults: waits until the outbox is empty and all that it had has become jobs, or was refused. */
  finish(withinMs: number): Promise<Orders>;
};

export type OrderPlan = { inputs: number; ms: number; stopped: AbortSignal };

export function startOrders(
  shop: Shop,
  databaseUrl: string,
  contexts: readonly string[],
  random: Random,
  plan: OrderPlan,
): Ordering {
  const made: Order[] = [];
  const each = Math.ceil(Math.max(LEAST, plan.inputs / INPUTS_FOR_ONE) / CLIENTS);
  const clients = Array.from({ length: CLIENTS }, (_, at) =>
    order(shop.clientUrl, `o-${at + 1}`, contexts, random.of(`client ${at}`), { ...plan, count: each, made }),
  );
  const all = Promise.all(clients);
  return {
    async finish(withinMs) {
      const deadline = performance.now() + withinMs;
      await all;
      const begun = performance.now();
      let relayedMs: number | null = null;
      for (;;) {
        const open = await openWork(shop, databaseUrl);
        if (open.rows === 0) relayedMs ??= performance.now() - begun;
        if ((open.rows === 0 && open.later === 0) || performance.now() > deadline)
          return { made, relayedMs, ...(await readOrders(shop, databaseUrl)) };
        await sleep(200);
      }
    },
  };
}

type OneClient = OrderPlan & { count: number; made: Order[] };

/** Its first order creates a worker, and is repeated until one is committed; the others follow. */
async function order(
  url: string,
  name: string,
  contexts: readonly string[],
  random: Random,
  { count, made, ms, stopped }: OneClient,
): Promise<void> {
  let own: string | null = null;
  let rolledBack = 0;
  for (let at = 0; (at < count || own === null) && !stopped.aborted; at += 1) {
    if (at > 0) await sleep(random.between(0, (ms / count) * 1.5));
    const tag = `${name}-${at + 1}`;
    const one: Order = {
      jobId: ids.next<JobId>(),
      messageId: ids.next<MessageId>(),
      tag,
      ...(own === null
        ? { contextId: ids.next<ContextId>(), isOwn: true, script: soldScript(tag, random), isRolledBack: false }
        : {
            ...(random.chance(ELSEWHERE)
              ? { contextId: random.pick(contexts), isOwn: false }
              : { contextId: own, isOwn: true }),
            script: write(tag, random, true, false, false, false),
            // In every run there is one.
            isRolledBack: rolledBack === 0 || random.chance(ROLLED_BACK),
          }),
    };
    made.push(one);
    const worker = own === null ? { worker_id: ids.next<WorkerId>(), name, config: CONFIG } : {};
    const isCommitted = await place(url, one, worker, random.between(0, MOST_OPEN_MS));
    if (one.isRolledBack) rolledBack += 1;
    if (isCommitted && own === null) own = one.contextId;
  }
}

/** False: it has not committed, or no answer told. */
async function place(url: string, one: Order, worker: object, openMs: number): Promise<boolean> {
  const { jobId, messageId, contextId, script } = one;
  const ofJob = { job_id: jobId, message_id: messageId, context_id: contextId };
  const body = JSON.stringify({ ...ofJob, ...worker, input: { content: script.text } });
  const client = new Client({ connectionString: url, connectionTimeoutMillis: ANSWER_MS, query_timeout: ANSWER_MS });
  // Each query tells by itself.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('begin');
    await client.query(BEGIN_ENQUEUE, [SCHEMA]);
    await client.query(`select ${SCHEMA}.nightshift_submit_v1($1, $2, true)`, [DEFAULT_TENANT_NAME, body]);
    await client.query(`insert into ${ORDERS} (job_id) values ($1)`, [jobId]);
    await sleep(openMs);
    await client.query(one.isRolledBack ? 'rollback' : 'commit');
    return !one.isRolledBack;
  } catch {
    return false;
  } finally {
    await Promise.race([client.end().catch(() => undefined), sleep(ANSWER_MS, undefined, { ref: false })]);
  }
}

/** `later`: what the platform has yet to do with relayed rows. */
async function openWork(shop: Shop, databaseUrl: string): Promise<{ rows: number; later: number }> {
  const [waiting] = await rows<{ count: number }>(
    shop.url,
    `select count(*)::int as count from ${SCHEMA}.outbox where refused_at is null`,
  );
  const [later] = await rows<{ count: number }>(
    databaseUrl,
    `select ((select count(*) from outbox_receipts)
      + (select count(*) from submissions where status = 'queued'))::int as count`,
  );
  return { rows: waiting?.count ?? 0, later: later?.count ?? 0 };
}

async function readOrders(shop: Shop, databaseUrl: string): Promise<Omit<Orders, 'made' | 'relayedMs'>> {
  const committed = await rows<{ job_id: string }>(shop.url, `select job_id from ${ORDERS} order by id`);
  const [receipts] = await rows<{ count: number }>(databaseUrl, 'select count(*)::int as count from outbox_receipts');
  return {
    committed: committed.map(({ job_id: id }) => id),
    left: await rows(shop.url, `select job_id, error ->> 'code' as code from ${SCHEMA}.outbox order by position`),
    receipts: receipts?.count ?? 0,
    submissions: await rows(
      databaseUrl,
      `select id, status, error ->> 'code' as code from submissions order by position`,
    ),
  };
}
