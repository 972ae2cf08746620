// Webhooks from the command line: added, tested, their deliveries shown and sent again, changed and removed.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Delivery, Webhook } from '../../src/client/index.ts';
import { startReceiver, type Receiver } from '../workers/webhooks/receiver.ts';
import { openPlatform, type Platform } from './command-line.ts';

let platform: Platform;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  platform = await openPlatform({
    NIGHTSHIFT_SECRET_KEY: 'the-secret-of-these-tests-with-32-characters',
    NIGHTSHIFT_CONFIG: 'test/e2e/outages/webhooks.config.ts',
  });
});
afterAll(async () => {
  await platform.close();
  await receiver.close();
});

test('a webhook is added, tested, shown, changed and removed', async () => {
  expect((await platform.run(['webhooks'])).out).toBe('No webhooks.\n');
  const made = await platform.run(['webhooks', 'add', receiver.url, '-e', 'job.started,job.finished', '--role', 'r']);
  expect(made).toMatchObject({ code: 0, err: expect.stringContaining('The secret is not shown again.') });
  receiver.secret = made.out.trim();
  expect(made.out).toMatch(/^whsec_\S+\n$/);
  const [webhook] = (await platform.json<{ data: Webhook[] }>(['webhooks', '--json'])).data;
  const id = webhook?.id ?? '';
  expect(webhook?.filter).toEqual({ role: 'r' });
  expect(await platform.run(['webhooks', 'test', id])).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^delivered: 204 in \d+ ms\n$/),
  });
  expect(receiver.received.map(({ type, isSigned }) => [type, isSigned])).toEqual([['webhook.test', true]]);
  receiver.behave((_, response) => void response.writeHead(500).end('no'));
  expect(await platform.run(['webhooks', 'test', id])).toMatchObject({
    code: 1,
    out: 'failed after 1 attempt: The receiver answered 500.\n',
  });
  const { data } = await platform.json<{ data: Delivery[] }>(['webhooks', 'deliveries', id, '-s', 'failed', '--json']);
  const failed = data[0]?.id ?? '';
  const shown = await platform.run(['webhooks', 'delivery', id, failed]);
  expect(shown.out).toContain('"type":"webhook.test"');
  expect(shown.out).toContain('Response:\nno');
  expect((await platform.run(['webhooks', 'retry', id, failed])).out).toBe(`${failed} is sent again.\n`);
  expect((await platform.run(['webhooks', 'rotate', id, '--overlap', '1h'])).out).toMatch(/^whsec_\S+\n$/);
  expect((await platform.run(['webhooks', 'disable', id])).out).toBe(`${id} is disabled.\n`);
  expect((await platform.run(['webhooks', 'show', id])).out).toContain('disabled (requested)');
  expect((await platform.run(['webhooks', 'enable', id])).out).toBe(`${id} is active.\n`);
  expect((await platform.run(['webhooks', 'remove', id])).out).toBe(`${id} is deleted.\n`);
  expect((await platform.run(['webhooks', 'show', id])).code).not.toBe(0);
});
