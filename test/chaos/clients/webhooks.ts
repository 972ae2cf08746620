// Receivers of webhooks. They answer with an error, cut the connection or take their time now and then, until the faults
// are over. That of the tenant that is deleted accepts nothing, so that deliveries wait when it is deleted.
import { setTimeout as sleep } from 'node:timers/promises';
import { startReceiver, type Behaviour, type Receiver } from '../../workers/webhooks/receiver.ts';
import type { Random } from '../random.ts';
import { rows } from '../world/database.ts';
import { readDeliveries, type Arrival, type HookName, type StoredDelivery } from '../world/webhooks.ts';
import type { KEYS } from '../platform.ts';
import type { Asker } from './requests.ts';

const EVENTS = ['job.started', 'job.waiting', 'job.finished'];

type Hook = { name: HookName; by: keyof typeof KEYS; body: object };

const HOOKS: readonly Hook[] = [
  { name: 'every', by: 'default', body: { events: EVENTS } },
  // No job has such metadata.
  { name: 'named', by: 'default', body: { events: ['job.started'], filter: { metadata: { none: true } } } },
  { name: 'paused', by: 'paused', body: { events: EVENTS } },
  { name: 'deleted', by: 'deleted', body: { events: EVENTS } },
];

type Fate = 'accepted' | 'refused' | 'cut' | 'slow';

/** Of the first requests of each receiver; then by chance. */
const FIRST: readonly Fate[] = ['refused', 'accepted', 'cut', 'slow'];
const FATES: readonly { fate: Fate; weight: number }[] = [
  { fate: 'accepted', weight: 88 },
  { fate: 'refused', weight: 4 },
  { fate: 'cut', weight: 4 },
  { fate: 'slow', weight: 4 },
];

export type Hooks = {
  /** The webhook that inputs name. */
  named: string;
  arrivals: readonly Arrival[];
  /** Resolves once the tenant that is deleted has a delivery that waits. */
  isPending: Promise<void>;
  /** After the faults: until everything is delivered. Null: something was pending when the time was up. */
  drain(withinMs: number): Promise<StoredDelivery[] | null>;
  stored(): Promise<StoredDelivery[]>;
  close(): Promise<void>;
};

export async function startHooks(ask: Asker, databaseUrl: string, random: Random): Promise<Hooks> {
  const arrivals: Arrival[] = [];
  const pending = Promise.withResolvers<void>();
  const hooks = new Map<string, HookName>();
  let isCalm = false;
  let accepted = 0;

  const behave = (name: HookName, own: Random): Behaviour => {
    let count = 0;
    return (received, response) => {
      const { id, type, jobId, seq, isSigned } = received;
      const arrival: Arrival = { hook: name, id, type, jobId, seq, at: Date.now(), isSigned, accepted: null };
      arrivals.push(arrival);
      const fate = isCalm ? 'accepted' : (FIRST[count] ?? own.weighted(FATES).fate);
      count += 1;
      const accept = (): void => {
        // Its sender may have left.
        if (response.destroyed) return;
        arrival.accepted = accepted += 1;
        response.writeHead(204).end();
      };
      if (name === 'deleted') {
        pending.resolve();
        return void response.writeHead(500).end();
      }
      switch (fate) {
        case 'accepted':
          return accept();
        case 'refused':
          return void response.writeHead(500).end();
        case 'cut':
          return void response.destroy();
        case 'slow':
          return void setTimeout(accept, own.between(200, 3_000));
      }
    };
  };

  const receivers: Receiver[] = [];
  for (const { name, by, body } of HOOKS) {
    const receiver = await startReceiver();
    receivers.push(receiver);
    receiver.behave(behave(name, random.of(name)));
    const made = await ask.insist('POST', '/api/webhooks', { url: receiver.url, ...body }, `webhook-${name}`, { by });
    if (made?.status !== 201) throw new Error(`the webhook ${name} was refused: ${made?.text}`);
    receiver.secret = String(made.body['secret']);
    hooks.set(String(made.body['id']), name);
  }
  const named = [...hooks].find(([, name]) => name === 'named')?.[0] ?? '';
  const stored = (): Promise<StoredDelivery[]> => readDeliveries(databaseUrl, hooks);

  return {
    named,
    arrivals,
    isPending: pending.promise,
    stored,
    async drain(withinMs) {
      isCalm = true;
      const deadline = performance.now() + withinMs;
      while (performance.now() < deadline) {
        await hurry(databaseUrl);
        if (await isDrained(databaseUrl)) return stored();
        await sleep(300);
      }
      return null;
    },
    async close() {
      for (const receiver of receivers) await receiver.close();
    },
  };
}

/** Tenants whose deliveries all arrive. */
const ACTIVE = `(select id from tenants where name in ('default', 'paused'))`;

/** What failed is due again. What an earlier event of its job delays stays delayed. */
async function hurry(databaseUrl: string): Promise<void> {
  await rows(
    databaseUrl,
    `with due as (
       update webhook_deliveries set next_attempt_at = now() where status = 'pending' and attempts > 0 returning 1
     )
     update webhooks set due_at = now(), held_until = null where status = 'active' and due_at is not null`,
  );
}

async function isDrained(databaseUrl: string): Promise<boolean> {
  const left = await rows(
    databaseUrl,
    `select 1 from webhook_outbox where tenant_id in ${ACTIVE}
     union all select 1 from webhook_deliveries where status = 'pending' and tenant_id in ${ACTIVE} limit 1`,
  );
  return left.length === 0;
}
