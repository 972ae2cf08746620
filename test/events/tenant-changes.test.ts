// The stream of a tenant: who follows it learns of each change within a moment, whichever process made it, and of nothing
// that it does not see.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createClient, type Client } from '../../src/client/index.ts';
import { until } from '../e2e/rig/until.ts';
import { describedBy } from './contract.ts';
import { openInstallation, runRedis, type Installation } from './installation.ts';
import { openStream, type ReceivedEvent, type SseClient } from './sse-client.ts';

const KEYS = { acme: 'key-of-acme-with-enough-length', other: 'key-of-other-with-enough-length' };

let installation: Installation;
let check: (received: readonly ReceivedEvent[]) => void;
beforeAll(async () => {
  installation = await openInstallation({
    apis: 2,
    redisUrl: runRedis(),
    env: {
      NIGHTSHIFT_API_KEYS: `${KEYS.acme}:acme,${KEYS.other}:other`,
      NIGHTSHIFT_SECRET_KEY: 'a-secret-of-the-tests-with-32-characters',
    },
  });
  check = await describedBy(urlOf(0), { authorization: `Bearer ${KEYS.acme}` });
});
afterAll(() => installation.close());

const opened: SseClient[] = [];
afterEach(async () => {
  const clients = opened.splice(0);
  for (const client of clients) client.close();
  await Promise.all(clients.map(({ ended }) => ended));
  for (const { received } of clients) check(received);
});

const urlOf = (api: number): string => installation.servers[api]?.url ?? '';
const clientOf = (apiKey: string, api = 0): Client => createClient({ url: urlOf(api), apiKey });

async function follow(key: string, api = 0): Promise<SseClient> {
  const client = await openStream(`${urlOf(api)}/api/events`, { headers: { authorization: `Bearer ${key}` } });
  opened.push(client);
  expect(client.status).toBe(200);
  return client;
}

const isAbout = (id: string) => (received: ReceivedEvent) => received.data.ids?.includes(id) === true;
const seen = ({ received }: SseClient): string[] => received.flatMap(({ data }) => (data.ids as string[]) ?? []);

/** Resolves once what was published before has arrived at a follower of the tenant. */
async function settled(key: string, followers: readonly SseClient[]): Promise<void> {
  const { id } = await clientOf(key).contexts.create({});
  await clientOf(key).contexts.send(id, 'say: marker');
  await Promise.all(followers.map((one) => one.until(isAbout(id))));
}

test('a job is told to all who follow its tenant, at any API process, and to no other', async () => {
  const followers = [await follow(KEYS.acme, 0), await follow(KEYS.acme, 1)];
  const stranger = await follow(KEYS.other, 1);
  const { id } = await clientOf(KEYS.acme).contexts.create({});
  const { job_id: job } = await clientOf(KEYS.acme).contexts.send(id, 'say: done');
  for (const follower of followers)
    expect((await follower.until(isAbout(id))).data).toMatchObject({ resource: 'contexts' });
  await clientOf(KEYS.acme).jobs.wait(job);
  await settled(KEYS.other, [stranger]);
  expect(seen(stranger)).not.toContain(id);
});

test('what a worker does later is told: a call that waits, and its approval', async () => {
  const api = clientOf(KEYS.acme);
  const { id } = await api.contexts.create({});
  const follower = await follow(KEYS.acme);
  const told = (): number => seen(follower).filter((one) => one === id).length;
  await api.contexts.send(id, 'wait: 700ms\nsay: later');
  await follower.until(isAbout(id));
  const before = told();
  await until(
    'the job has ended and was told',
    async () => (await api.contexts.state(id)).state === 'Idle' && told() > before,
  );
});

test('a write names its resource', async () => {
  const api = clientOf(KEYS.acme);
  const follower = await follow(KEYS.acme, 1);
  await api.roles.put('scout', { system_prompt: 'You look around.' });
  await follower.until(({ data }) => data.resource === 'roles');
  const { id } = await api.keys.create({ name: 'of a test', scopes: ['read'] });
  await follower.until(({ data }) => data.resource === 'keys');
  await api.keys.revoke(id);
  const { id: context } = await api.contexts.create({});
  await api.contexts.delete(context);
  await follower.until(({ data }) => data.resource === 'contexts' && data.ids.length === 0);
});

test('a token learns of the contexts that it gives access to, and of no others', async () => {
  const api = clientOf(KEYS.acme);
  const key = (await api.keys.create({ name: 'for tokens', scopes: ['keys', 'read', 'run'] })).key;
  const maker = clientOf(key);
  const expires_in_s = 600;
  const ann = await maker.tokens.create({ user: 'ann', scopes: ['read', 'run'], expires_in_s });
  const { id: ofAnn } = await clientOf(ann.token).contexts.create({});
  const { id: ofBen } = await api.contexts.create({ user: 'ben' });
  const one = await maker.tokens.create({ user: 'eve', scopes: ['read'], context_ids: [ofBen], expires_in_s });
  const [forAnn, forOne, forAll] = [await follow(ann.token), await follow(one.token, 1), await follow(KEYS.acme)];
  const sent = [await api.contexts.send(ofAnn, 'say: to ann'), await api.contexts.send(ofBen, 'say: to ben')];
  for (const { job_id: job } of sent) await api.jobs.wait(job);
  await Promise.all([forAnn.until(isAbout(ofAnn)), forOne.until(isAbout(ofBen))]);
  await settled(KEYS.acme, [forAll]);
  expect(new Set(seen(forAnn))).toEqual(new Set([ofAnn]));
  expect(new Set(seen(forOne))).toEqual(new Set([ofBen]));
  // Also what a key does to them; of what else it writes to a token learns nothing.
  const before = forAnn.received.length;
  await api.contexts.update(ofAnn, { title: 'renamed by a key' });
  await api.roles.put('second', { system_prompt: 'You wait.' });
  await forAll.until(({ data }) => data.resource === 'roles');
  await until('the new title is told', () => forAnn.received.slice(before).some(isAbout(ofAnn)));
  expect(
    [forAnn, forOne].flatMap(({ received }) => received.filter(({ data }) => data.resource !== 'contexts')),
  ).toEqual([]);
});

test('the stream ends with its credential, and has no cursor', async () => {
  const api = clientOf(KEYS.acme);
  const { id, key } = await api.keys.create({ name: 'to end', scopes: ['read'] });
  const follower = await follow(key, 1);
  expect([follower.lastId(), follower.headers['content-type']]).toEqual([null, 'text/event-stream; charset=utf-8']);
  await api.keys.revoke(id);
  await follower.ended;
});

test('the client yields changes, and reconnects', async () => {
  const leaving = new AbortController();
  const connections: boolean[] = [];
  const changes = clientOf(KEYS.acme).changes({
    signal: leaving.signal,
    onConnection: (lost) => void connections.push(lost === null),
  });
  const first = changes.next();
  await until('it is connected', async () => connections.length > 0);
  const { id } = await clientOf(KEYS.acme).contexts.create({});
  await clientOf(KEYS.acme).contexts.send(id, 'say: seen');
  expect((await first).value).toMatchObject({ resource: 'contexts' });
  leaving.abort();
  while (!(await changes.next()).done);
});
