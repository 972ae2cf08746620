// A bus that loses three frames of ten, clients that connect and disconnect at random, calls that fail in the middle:
// the text that each client assembles is the stored text.
import { afterEach, expect, test } from 'vitest';
import type { Bus } from '../../src/bus/bus.ts';
import { openInstallation, runRedis, type Installation, type InstallationOptions } from './installation.ts';
import { addUp, numbered, type ReceivedEvent } from './sse-client.ts';
import { endlessModel } from './paced-models.ts';

let installation: Installation | null = null;
afterEach(async () => {
  await installation?.close();
  installation = null;
});

function lossy(share: number): (bus: Bus) => Bus {
  return (bus) => ({
    ...bus,
    publish(channel, message) {
      if (Math.random() >= share) bus.publish(channel, message);
    },
  });
}

const SCRIPTS = [
  'think: so\nsay: a few words\ntokens: 80 over 400ms\nsay: done',
  'tokens: 40 over 300ms\ncall: look {}\ncall: look {}\nthen:\ntokens: 60 over 300ms\ncall: look {}\nthen:\nsay: it is so',
  'say: partly\nwait: 120ms\nfail: stream_interrupted times 1\ntokens: 50 over 250ms',
  'call: look {}\nthen:\nsay: 🦊 "quoted"\nsay: two',
];

/** Follows to the end of a number of jobs, disconnecting at random and reconnecting with its cursor. */
async function comeAndGo(of: Installation, contextId: string, jobs: number): Promise<ReceivedEvent[]> {
  const received: ReceivedEvent[] = [];
  let cursor: string | undefined;
  for (let ended = 0; ended < jobs;) {
    const api = Math.floor(Math.random() * of.servers.length);
    const ask = cursor === undefined ? { after: 0 } : { lastEventId: cursor };
    const client = await of.listen(contextId, ask, api);
    expect(client.status).toBe(200);
    const stay = Math.random() < 0.25 ? 20_000 : Math.random() * 250;
    const timer = setTimeout(() => client.close(), stay);
    await client
      .until(() => client.received.filter(({ event }) => event === 'JobFinished').length + ended === jobs)
      .catch(() => undefined);
    clearTimeout(timer);
    client.close();
    await client.ended;
    received.push(...client.received);
    ended += client.received.filter(({ event }) => event === 'JobFinished').length;
    cursor = client.lastId() ?? cursor;
  }
  return received;
}

async function stay(of: Installation, contextId: string, jobs: number, api: number): Promise<ReceivedEvent[]> {
  const client = await of.listen(contextId, { after: 0 }, api);
  await client.until(() => client.received.filter(({ event }) => event === 'JobFinished').length === jobs);
  client.close();
  return client.received;
}

async function play(options: InstallationOptions, contexts: number): Promise<void> {
  const of = (installation = await openInstallation(options));
  const ids = await Promise.all(Array.from({ length: contexts }, async () => (await of.client.createContext({})).id));
  await Promise.all(
    ids.map(async (id) => {
      const goers = [1, 2].map(() => comeAndGo(of, id, SCRIPTS.length));
      const stayers = of.servers.map((_, api) => stay(of, id, SCRIPTS.length, api));
      for (const [at, script] of SCRIPTS.entries()) {
        const client = of.clients[at % of.clients.length];
        const { job_id: jobId } = (await client?.post(id, script)) ?? { job_id: '' };
        await of.client.ended(jobId);
      }
      const stored = new Map(
        (await of.client.messages(id)).map(({ id: message, content }) => [
          message,
          content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
        ]),
      );
      const replayed = numbered(await stay(of, id, SCRIPTS.length, 0));
      for (const received of await Promise.all([...goers, ...stayers])) {
        expect(numbered(received).slice(0, replayed.length)).toEqual(replayed.slice(0, numbered(received).length));
        expect(numbered(received).length).toBeGreaterThan(replayed.length - 2);
      }
      // A client that stayed received each message's text to the end; one that disconnects starts over where it
      // reconnects.
      for (const received of await Promise.all(stayers)) {
        for (const [message, { text }] of addUp(received)) expect(text).toBe(stored.get(message));
      }
    }),
  );
}

test('within one process, every client assembles the stored text', () => play({ bus: lossy(0.3) }, 4));

test('so does every client of two API processes and two workers on Redis', async () => {
  await play({ apis: 2, workers: 2, redisUrl: runRedis(), bus: lossy(0.3) }, 4);
});

test('so does every client without losses', async () => {
  await play({ apis: 2, workers: 2, redisUrl: runRedis() }, 4);
});

test('a delta that is lost in mid-message is repaired while the model is still writing', async () => {
  let isLost = false;
  const talks = endlessModel();
  const of = (installation = await openInstallation({
    model: talks.model,
    bus: (bus) => ({
      ...bus,
      publish(channel, message) {
        const loses =
          !isLost && 'kind' in message && message.kind === 'delta' && JSON.stringify(message).includes('"sequence":5');
        isLost ||= loses;
        if (!loses) bus.publish(channel, message);
      },
    }),
  }));
  const { id } = await of.client.createContext({});
  const client = await of.listen(id);
  const spoken = () =>
    client.received
      .filter(({ event }) => event.startsWith('Content'))
      .map(({ event, data }) => ({ event, sequence: data.sequence }));
  const behindGap = () => spoken().slice(spoken().findIndex(({ sequence }) => sequence > 4) + 1);
  talks.until(() => isLost && behindGap().filter(({ event }) => event === 'ContentDelta').length > 20);
  await of.client.post(id, 'speak');
  await client.until(({ event }) => event === 'JobFinished');
  const gap = spoken().findIndex(({ sequence }) => sequence > 4);
  expect(spoken()[gap]?.event).toBe('ContentSnapshot');
  addUp(client.received);
  client.close();
});
