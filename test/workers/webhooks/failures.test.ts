// Receivers that are down, hang, redirect, refuse or end: what is retried, when, and that no other webhook suffers.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { changeWebhook, rotateSecret } from '../../../src/commands/webhooks/change-webhook.ts';
import { retryDelivery, sendTest } from '../../../src/commands/webhooks/send-again.ts';
import { DEFAULT_TENANT, parseId, type DeliveryId, type WebhookId } from '../../../src/core/ids.ts';
import { ids } from '../../../src/platform/ids.ts';
import { newWebhookSecret } from '../../../src/webhooks/secret-box.ts';
import { webhooksWith } from '../../services/webhooks.ts';
import { says, startFleet, type Fleet, type FleetOptions } from '../worker-fleet.ts';
import { WEBHOOKS, addHook, arrivals, deliveryRows, hookRow, passTime } from './hooks.ts';
import { accepts, answers, isSigned, startReceiver, type Behaviour, type Receiver } from './receiver.ts';

let fleet: Fleet;
let receiver: Receiver;
let others: Receiver[] = [];
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  for (const one of [receiver, ...others]) await one.close();
  others = [];
  await fleet.close();
});

async function start(options: Partial<FleetOptions> = {}): Promise<void> {
  fleet = await startFleet({ model: () => says('ok'), webhooks: WEBHOOKS, ...options });
}

async function another(certificate?: { key: string; cert: string }): Promise<Receiver> {
  const made = await startReceiver(certificate);
  others.push(made);
  return made;
}

async function runJob(): Promise<string> {
  const { contextId } = await fleet.createContext();
  const { jobId } = await fleet.post(contextId, 'go');
  await fleet.ended(jobId);
  return jobId;
}

/** A delivery as it is so long after its event. */
async function age(deliveryId: unknown, time: string): Promise<void> {
  await fleet.query(`update webhook_deliveries set created_at = created_at - interval '${time}',
    give_up_at = give_up_at - interval '${time}' where id = '${String(deliveryId)}'`);
}

const HANGS: Behaviour = () => undefined;
const keyOf = (id: WebhookId) => ({ tenantId: DEFAULT_TENANT, id });

const statuses = async (id: WebhookId): Promise<unknown[]> =>
  (await deliveryRows(fleet, id)).map(({ status }) => status);

async function attempted(id: WebhookId, attempts = 1): Promise<Record<string, unknown>> {
  await fleet.until(async () => (await deliveryRows(fleet, id)).some((row) => Number(row['attempts']) >= attempts));
  const rows = await deliveryRows(fleet, id);
  return rows.find((row) => Number(row['attempts']) >= attempts) ?? {};
}

describe('an attempt that fails', () => {
  test.each<[string, Behaviour, number, string]>([
    ['a redirect', answers(302, { location: 'http://127.0.0.1:1/elsewhere' }), 302, 'Redirects are not followed.'],
    ['an error', answers(500, {}, 'x'.repeat(5_000)), 500, 'The receiver answered 500.'],
    ['no HTTP', (_, response) => void response.socket?.end('hello\r\n\r\n'), 0, 'did not send a valid HTTP response'],
  ])('%s: kept with its reason, and tried again later', async (_, behaviour, status, reason) => {
    await start();
    receiver.behave(behaviour);
    const id = await addHook(fleet, receiver, { events: ['job.finished'] });
    await runJob();
    const row = await attempted(id);
    expect(row).toMatchObject({ status: 'pending', attempts: 1, response_status: status === 0 ? null : status });
    expect(row['error']).toContain(reason);
    expect(row['response_body']).toSatisfy(
      (body) => body === null || (typeof body === 'string' && body.length <= 1_024),
    );
    const delay = Date.parse(String(row['next_attempt_at'])) - Date.parse(String(row['last_attempt_at']));
    expect(delay).toBeGreaterThanOrEqual(5_000);
    expect(delay).toBeLessThanOrEqual(6_100);
    expect(await hookRow(fleet, id)).toMatchObject({ status: 'active', last_error: row['error'] });
    receiver.behave(accepts);
    await passTime(fleet, id);
    await fleet.until(async () => (await statuses(id)).every((one) => one === 'delivered'));
    const [first, second] = receiver.received;
    expect([second?.id, second?.text]).toEqual([first?.id, first?.text]);
    expect(await hookRow(fleet, id)).toMatchObject({ failing_since: null, failures: 0 });
  });

  test('nothing listens; a certificate that is not valid; an address that is not public', async () => {
    await start({ webhooks: webhooksWith(['the-secret-of-these-tests-with-32-characters'], ['127.0.0.1']) });
    const tls = await another(selfSigned());
    const cases: [WebhookId, string][] = [
      [await addHook(fleet, receiver, { url: 'http://127.0.0.1:1/' }), 'ECONNREFUSED'],
      [await addHook(fleet, receiver, { url: tls.url }), 'The certificate of the receiver is not valid'],
      [await addHook(fleet, receiver, { url: 'http://10.0.0.1/' }), 'is not public'],
      [await addHook(fleet, receiver, { url: 'http://169.254.169.254/latest' }), 'is not public'],
      [await addHook(fleet, receiver, { url: 'http://localhost:1/' }), 'is not public'],
      [await addHook(fleet, receiver, { url: 'http://[::1]:1/' }), 'is not public'],
    ];
    await runJob();
    for (const [id, reason] of cases) expect((await attempted(id))['error']).toContain(reason);
    expect(tls.received).toEqual([]);
  });

  test('429 and 503 say when to come back; 410 ends the webhook', async () => {
    await start();
    receiver.behave(answers(429, { 'retry-after': '120' }));
    const id = await addHook(fleet, receiver, { events: ['job.finished'] });
    await runJob();
    await attempted(id);
    const { held_until } = await hookRow(fleet, id);
    expect(Date.parse(String(held_until)) - Date.now()).toBeGreaterThan(90_000);
    receiver.behave(answers(410));
    await passTime(fleet, id);
    await fleet.until(async () => (await hookRow(fleet, id))['status'] === 'disabled');
    expect(await hookRow(fleet, id)).toMatchObject({ disabled_reason: 'gone', due_at: null });
  });
});

describe('a receiver that hangs', () => {
  test('gets ten seconds; jobs and the webhooks of others go on meanwhile', async () => {
    await start({ concurrency: 2 });
    receiver.behave(HANGS);
    const slow = await addHook(fleet, receiver);
    const good = await another();
    await addHook(fleet, good);
    for (let count = 0; count < 6; count += 1) await runJob();
    await fleet.until(() => good.received.length >= 12);
    // Of one webhook only a few are sent at once, however many wait.
    expect(receiver.open).toBeLessThanOrEqual(4);
    expect(await statuses(slow)).toEqual(Array.from({ length: 12 }, () => 'pending'));
    const row = await attempted(slow);
    expect(row['error']).toBe('No response within 10 s.');
  });

  test('a response without an end counts by its status', async () => {
    await start();
    receiver.behave((_, response) => void response.writeHead(200).write('still here'));
    const id = await addHook(fleet, receiver, { events: ['job.finished'] });
    await runJob();
    await fleet.until(async () => (await statuses(id))[0] === 'delivered');
    expect((await deliveryRows(fleet, id))[0]?.['response_body']).toBe('still here');
  });
});

describe('order', () => {
  test('an undelivered event delays the later ones of its job, not those of others', async () => {
    await start();
    const id = await addHook(fleet, receiver);
    let held = '';
    receiver.behave((received, response) => {
      held ||= received.jobId ?? '';
      response.writeHead(received.jobId === held && received.seq === 1 ? 400 : 204).end();
    });
    const first = await runJob();
    await attempted(id);
    const second = await runJob();
    await fleet.until(() => arrivals(receiver, second).length === 2);
    expect(arrivals(receiver, first)).toEqual([['job.started', 1]]);
    receiver.behave(accepts);
    await fleet.query(`update webhook_deliveries set next_attempt_at = now() where seq = 1 and status = 'pending'`);
    await fleet.query(`update webhooks set due_at = now(), held_until = null where id = '${id}'`);
    await fleet.until(async () => (await statuses(id)).every((one) => one === 'delivered'));
    expect(arrivals(receiver, first)).toEqual([
      ['job.started', 1],
      ['job.started', 1],
      ['job.finished', 2],
    ]);
  });

  test('it delays them for five minutes at most', async () => {
    await start();
    const id = await addHook(fleet, receiver);
    receiver.behave((received, response) => void response.writeHead(received.seq === 1 ? 400 : 204).end());
    const jobId = await runJob();
    await attempted(id);
    const [, later] = await deliveryRows(fleet, id);
    const wait = Date.parse(String(later?.['next_attempt_at'])) - Date.parse(String(later?.['created_at']));
    expect(wait).toBeGreaterThan(299_000);
    expect(wait).toBeLessThan(302_000);
    await fleet.query(`update webhook_deliveries set next_attempt_at = now() where id = '${String(later?.['id'])}'`);
    await fleet.query(`update webhooks set due_at = now(), held_until = null where id = '${id}'`);
    await fleet.until(() => arrivals(receiver, jobId).some(([, seq]) => seq === 2));
    await fleet.until(async () => (await statuses(id))[1] === 'delivered');
    expect((await statuses(id))[0]).toBe('pending');
  });
});

describe('a lasting failure', () => {
  test('the webhook is disabled after three days, keeps what is pending, and sends it when it is enabled', async () => {
    await start();
    receiver.behave(answers(500));
    const id = await addHook(fleet, receiver, { events: ['job.finished'] });
    await runJob();
    await attempted(id);
    await runJob();
    await fleet.until(
      async () => (await deliveryRows(fleet, id)).filter(({ attempts }) => attempts === 1).length === 2,
    );
    const [old] = await deliveryRows(fleet, id);
    await age(old?.['id'], '3 days');
    await passTime(fleet, id);
    await fleet.until(async () => (await hookRow(fleet, id))['status'] === 'disabled');
    expect(await hookRow(fleet, id)).toMatchObject({ disabled_reason: 'failing', due_at: null });
    expect((await statuses(id))[0]).toBe('failed');
    // Events of a disabled webhook are not kept for it.
    await runJob();
    await fleet.until(async () => (await fleet.query('select 1 from webhook_outbox')).length === 0);
    expect((await statuses(id)).length).toBe(2);
    receiver.behave(accepts);
    await fleet.perform(changeWebhook(keyOf(id), { status: 'active' }));
    await fleet.until(async () => (await statuses(id))[1] === 'delivered');
    expect(await hookRow(fleet, id)).toMatchObject({ status: 'active', disabled_reason: null, failing_since: null });
  });

  test('a delivery that is given up disables nothing if another one succeeded since its event', async () => {
    await start();
    const id = await addHook(fleet, receiver, { events: ['job.finished'] });
    receiver.behave(answers(400));
    await runJob();
    const old = await attempted(id);
    await age(old['id'], '3 days');
    receiver.behave(accepts);
    await runJob();
    await fleet.until(async () => (await statuses(id))[1] === 'delivered');
    receiver.behave(answers(400));
    await passTime(fleet, id);
    await fleet.until(async () => (await statuses(id))[0] === 'failed');
    await fleet.until(async () => (await hookRow(fleet, id))['lease_owner'] === null);
    // Nothing is pending, so nothing is failing. A later failure begins a time of its own.
    expect(await hookRow(fleet, id)).toMatchObject({ status: 'active', failing_since: null });
    await runJob();
    await fleet.until(async () => (await deliveryRows(fleet, id))[2]?.['attempts'] === 1);
    await fleet.until(async () => (await hookRow(fleet, id))['failing_since'] !== null);
    expect(await hookRow(fleet, id)).toMatchObject({ status: 'active' });
  });

  test('enabled again, later events of a job still wait for the first one', async () => {
    await start();
    receiver.behave(answers(500));
    const id = await addHook(fleet, receiver);
    const jobId = await runJob();
    await attempted(id);
    await fleet.perform(changeWebhook(keyOf(id), { status: 'disabled' }));
    await fleet.perform(changeWebhook(keyOf(id), { status: 'active' }));
    await fleet.until(() => receiver.received.length === 2);
    await fleet.until(async () => (await hookRow(fleet, id))['lease_owner'] === null);
    expect(arrivals(receiver, jobId)).toEqual([
      ['job.started', 1],
      ['job.started', 1],
    ]);
  });

  test('a receiver that is down is tried more and more rarely, one delivery at a time; then all goes at once', async () => {
    await start();
    receiver.behave(answers(503));
    const id = await addHook(fleet, receiver, { events: ['job.finished'] });
    await Promise.all(Array.from({ length: 8 }, runJob));
    await fleet.until(async () => (await statuses(id)).length === 8);
    for (let tries = 0; tries < 4; tries += 1) {
      const { failures } = await hookRow(fleet, id);
      await fleet.query(`update webhook_deliveries set next_attempt_at = now() - interval '1 second'`);
      await fleet.query(`update webhooks set due_at = now(), held_until = null where due_at > now()`);
      await fleet.until(async () => Number((await hookRow(fleet, id))['failures']) > Number(failures));
    }
    const row = await hookRow(fleet, id);
    expect(Number(row['failures'])).toBeGreaterThan(3);
    expect(Date.parse(String(row['held_until']))).toBeGreaterThan(Date.now());
    receiver.behave(accepts);
    await fleet.query(`update webhooks set due_at = now(), held_until = null where id = '${id}'`);
    await fleet.until(async () => (await statuses(id)).every((one) => one === 'delivered'));
  });
});

test('a test is sent once, also to a webhook that is on hold; a delivery can be sent again', async () => {
  await start();
  const id = await addHook(fleet, receiver, { events: ['job.finished'] });
  await fleet.query(`update webhooks set held_until = now() + interval '1 hour' where id = '${id}'`);
  receiver.behave(answers(500));
  const test_ = await fleet.perform(sendTest(keyOf(id), ids.next<DeliveryId>()));
  await fleet.until(async () => (await statuses(id))[0] === 'failed');
  expect(receiver.received.map(({ type, id: received }) => [type, received])).toEqual([['webhook.test', test_.id]]);
  expect((await hookRow(fleet, id))['failing_since']).toBeNull();
  receiver.behave(accepts);
  await fleet.perform(retryDelivery(keyOf(id), test_.id));
  await fleet.until(async () => (await statuses(id))[0] === 'delivered');
  await fleet.perform(retryDelivery(keyOf(id), test_.id));
  await fleet.until(() => receiver.received.length === 3);
  await fleet.until(async () => (await statuses(id))[0] === 'delivered');
  expect(new Set(receiver.received.map((one) => one.id)).size).toBe(1);
});

test('tests and retries go before all that waits', async () => {
  await start();
  receiver.behave(answers(500));
  const id = await addHook(fleet, receiver, { events: ['job.finished'] });
  await runJob();
  const failed = await attempted(id);
  await fleet.query(`insert into webhook_deliveries
    (id, tenant_id, webhook_id, context_id, job_id, type, seq, body, attempts, next_attempt_at, give_up_at)
    select gen_random_uuid(), tenant_id, webhook_id, context_id, gen_random_uuid(), type, 1, body, 3,
      now() + interval '1 hour', give_up_at from webhook_deliveries, generate_series(1, 20) where webhook_id = '${id}'`);
  await fleet.query(`update webhooks set failures = 5, held_until = now() + interval '1 hour', due_at = null
    where id = '${id}'`);
  await fleet.query(
    `update webhook_deliveries set next_attempt_at = now() - interval '1 hour' where webhook_id = '${id}'`,
  );
  const before = receiver.received.length;
  const test_ = await fleet.perform(sendTest(keyOf(id), ids.next<DeliveryId>()));
  await fleet.until(async () => (await deliveryRows(fleet, id)).some(({ status }) => status === 'failed'));
  await fleet.perform(retryDelivery(keyOf(id), parseId<DeliveryId>(String(failed['id'])) ?? test_.id));
  await fleet.until(() => receiver.received.length === before + 2);
  await fleet.until(async () => (await hookRow(fleet, id))['lease_owner'] === null);
  // The others wait for the end of the hold.
  expect(receiver.received.slice(before).map((one) => one.id)).toEqual([test_.id, failed['id']]);
  expect(Date.parse(String((await hookRow(fleet, id))['held_until']))).toBeGreaterThan(Date.now());
  expect((await deliveryRows(fleet, id)).filter(({ at_once }) => at_once === true)).toEqual([]);
});

test('a batch without deliveries says nothing about the receiver', async () => {
  await start();
  const id = await addHook(fleet, receiver, { events: ['job.finished'] });
  await fleet.query(`update webhooks set failures = 5, held_until = now() - interval '1 second', due_at = now()
    where id = '${id}'`);
  await fleet.until(async () => (await hookRow(fleet, id))['due_at'] === null);
  expect(await hookRow(fleet, id)).toMatchObject({ failures: 5, held_until: expect.anything(), lease_owner: null });
});

test('a row of the outbox that fails keeps no other from its receivers, nor its context out of order', async () => {
  await start();
  const id = await addHook(fleet, receiver);
  const { contextId } = await fleet.createContext();
  await fleet.query(`create function refuse() returns trigger language plpgsql as $$
    begin raise exception 'refused'; end $$`);
  await fleet.query(`create trigger refused before insert on webhook_deliveries for each row
    when (new.context_id = '${contextId}') execute function refuse()`);
  const { jobId: refused } = await fleet.post(contextId, 'go');
  await fleet.ended(refused);
  const other = await runJob();
  await fleet.until(() => arrivals(receiver, other).length === 2);
  await fleet.until(async () => (await fleet.query('select 1 from webhook_outbox where retry_at > now()')).length > 0);
  expect(arrivals(receiver, refused)).toEqual([]);
  await fleet.query('drop trigger refused on webhook_deliveries');
  await fleet.query('update webhook_outbox set retry_at = now() where retry_at is not null');
  await fleet.until(() => arrivals(receiver, refused).length === 2);
  expect(arrivals(receiver, refused)).toEqual([
    ['job.started', 1],
    ['job.finished', 2],
  ]);
  expect((await deliveryRows(fleet, id)).length).toBe(4);
});

test('during a rotation both secrets sign, and then only the new one', async () => {
  await start();
  const id = await addHook(fleet, receiver, { events: ['job.finished'] });
  const [old, fresh] = [receiver.secret, newWebhookSecret()];
  const sealed = WEBHOOKS.secretBox?.seal(keyOf(id), fresh) ?? '';
  await fleet.perform(rotateSecret(keyOf(id), sealed, 60));
  await runJob();
  await fleet.until(() => receiver.received.length === 1);
  await fleet.query(`update webhooks set old_secret_until = now() - interval '1 second' where id = '${id}'`);
  await runJob();
  await fleet.until(() => receiver.received.length === 2);
  const verified = receiver.received.map(({ text, headers }) =>
    [old, fresh].map((one) => isSigned(text, headers, one)),
  );
  expect(verified).toEqual([
    [true, true],
    [false, true],
  ]);
});

test('a secret that cannot be decrypted fails with the reason', async () => {
  await start({ webhooks: webhooksWith(['another-secret-of-these-tests-of-32-characters']) });
  const id = await addHook(fleet, receiver, { events: ['job.finished'] });
  await runJob();
  expect((await attempted(id))['error']).toContain('NIGHTSHIFT_SECRET_KEY has changed');
  expect(receiver.received).toEqual([]);
});

function selfSigned(): { key: string; cert: string } {
  const folder = mkdtempSync(path.join(tmpdir(), 'nightshift-certificate-'));
  const [key, cert] = [path.join(folder, 'key.pem'), path.join(folder, 'cert.pem')];
  const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
  execFileSync('openssl', [...args, '-subj', '/CN=127.0.0.1', '-keyout', key, '-out', cert], { stdio: 'ignore' });
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
}
