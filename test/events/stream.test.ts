// The guarantees of a stream: nothing missing, nothing twice, and text that adds up, from any starting point.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { localBus } from '../../src/bus/local.ts';
import { deltasOf } from '../../src/bus/bus.ts';
import { ids } from '../../src/platform/ids.ts';
import { DEFAULT_TENANT, type ContextId, type JobId, type MessageId } from '../../src/core/ids.ts';
import type { StreamEvent } from '../../src/core/stream/stream-event.ts';
import { openStreamHub } from '../../src/events/stream-hub.ts';
import { createSimulated } from '../../src/llm/simulated/model.ts';
import { until } from '../e2e/rig/until.ts';
import { describedBy } from './contract.ts';
import { openInstallation, type Installation } from './installation.ts';
import { addUp, numbered, type Ask, type SseClient, type ReceivedEvent } from './sse-client.ts';
import { paced, endlessModel, type EndlessModel } from './paced-models.ts';
import { tagOf } from '../services/statements.ts';

const simulated = paced(createSimulated(ids));
let installation: Installation;
let check: (received: readonly ReceivedEvent[]) => void;
beforeAll(async () => {
  installation = await openInstallation({ model: simulated.model });
  check = await describedBy(installation.servers[0]?.url ?? '');
});
afterAll(() => installation.close());

const opened: SseClient[] = [];
afterEach(async () => {
  simulated.until(() => true);
  const clients = opened.splice(0);
  for (const client of clients) client.close();
  await Promise.all(clients.map(({ ended }) => ended));
  for (const { received } of clients) check(received);
});

async function listen(contextId: string, ask: Ask = {}): Promise<SseClient> {
  const client = await installation.listen(contextId, ask);
  opened.push(client);
  return client;
}

const finished = (jobId: string) => (received: ReceivedEvent) =>
  received.event === 'JobFinished' && received.data.job_id === jobId;

async function say(contextId: string, script: string): Promise<string> {
  return (await installation.client.post(contextId, script)).job_id;
}

/** The stored texts of assistants, by message. */
async function texts(contextId: string, of = installation): Promise<Map<string, string>> {
  const messages = await of.client.messages(contextId);
  return new Map(
    messages
      .filter(({ role }) => role === 'assistant')
      .map(({ id, content }) => [id, content.map((block) => (block.type === 'text' ? block.text : '')).join('')]),
  );
}

async function headOf(contextId: string): Promise<number> {
  const [row] = await installation.query(`select head_seq from contexts where id = '${contextId}'`);
  return Number(row?.['head_seq']);
}

/** How often the API read entries that were not published to it. */
async function resyncs(): Promise<number> {
  const figures = await (await fetch(`${installation.servers[0]?.url}/metrics`)).text();
  return Number(/^nightshift_stream_resyncs_total (\d+)$/m.exec(figures)?.[1]);
}

async function replay(contextId: string): Promise<ReceivedEvent[]> {
  const client = await listen(contextId, { after: 0 });
  const head = await headOf(contextId);
  await client.until(({ id }) => id === head);
  return numbered(client.received);
}

const TALK = 'think: hm, well\nsay: before\ntokens: 60 over 300ms\nsay: after';

test('a stream is answered at once, as event stream, and says when to come again', async () => {
  const { id } = await installation.client.createContext({});
  const client = await listen(id);
  expect(client.status).toBe(200);
  expect(client.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    'x-request-id': expect.stringMatching(/./),
  });
  await until('the first words', () => client.retry() === 2_000 && client.lastId() === '0');
});

test('the live stream equals a replay from 0, in the order of numbers and without a gap', async () => {
  const { id } = await installation.client.createContext({});
  const live = await listen(id, { after: 0 });
  // The subscriber's interest may be registered late: nothing is over before it was.
  simulated.until(() => live.received.some(({ event }) => event === 'ThinkingDelta'));
  const first = await say(id, `${TALK}\ncall: look {}\nthen:\nsay: done`);
  await live.until(finished(first));
  const second = await say(id, 'say: again');
  await live.until(finished(second));
  const head = await headOf(id);
  await live.until((received) => received.id === head);
  expect(numbered(live.received)).toEqual(await replay(id));
  const ids = numbered(live.received).map((received) => received.id);
  expect(ids).toEqual(ids.map((_, at) => at + 1));
  // Whether text comes as deltas or as a snapshot, and whether the stream is silent for long enough for a heartbeat,
  // depends on timing.
  const depends = /^Content|^Heartbeat$/;
  const names = new Set(live.received.map(({ event }) => event).filter((name) => !depends.test(name)));
  expect([...names].sort()).toEqual([
    'JobFinished',
    'JobStarted',
    'MessageCompleted',
    'StateChanged',
    'ThinkingDelta',
    'ToolCallFinished',
  ]);
  for (const { event, data } of live.received) if (event !== 'Heartbeat') expect(data.context_id).toBe(id);
});

/** An installation of its own, in which the model writes until the subscriber has received enough. */
async function whileItWrites(
  work: (of: Installation, talks: EndlessModel, contextId: string, job: string) => Promise<void>,
): Promise<void> {
  const talks = endlessModel();
  const of = await openInstallation({ model: talks.model });
  try {
    const { id } = await of.client.createContext({});
    await work(of, talks, id, (await of.client.post(id, 'speak')).job_id);
  } finally {
    await of.close();
  }
}

const deltas = ({ received }: SseClient): number => received.filter(({ event }) => event === 'ContentDelta').length;

test.each([
  ['say: short', { text: 'short', truncated: false }, null],
  [`say: ${'x'.repeat(3_999)}🦊`, { text: 'x'.repeat(3_999), truncated: true }, null],
  ['fail: bad_request', null, { code: 'provider_bad_request', message: expect.any(String) }],
])('the end of a job tells its output or its error, live and replayed: %.12s', async (script, output, error) => {
  const { id } = await installation.client.createContext({});
  const live = await listen(id, { after: 0 });
  const jobId = await say(id, script);
  await live.until(finished(jobId));
  const [told] = live.received.filter(finished(jobId));
  expect(told?.data).toMatchObject({
    output: output === null ? null : { message_id: expect.any(String), ...output },
    error,
  });
  expect((await replay(id)).find(finished(jobId))).toEqual(told);
});

test('every event tells its time, and those with a number in their order', async () => {
  const { id } = await installation.client.createContext({});
  const live = await listen(id, { after: 0 });
  await live.until(finished(await say(id, `${TALK}\ncall: look {}\nthen:\nsay: done`)));
  const times = live.received.map(({ data }) => data.at);
  expect(times.every((at) => typeof at === 'string' && Math.abs(Date.now() - Date.parse(at)) < 60_000)).toBe(true);
  const ofNumbered = numbered(live.received).map(({ data }) => Date.parse(String(data.at)));
  expect(ofNumbered).toEqual(ofNumbered.toSorted((a, b) => a - b));
});

test('deltas add up to the message, between the first byte and the end, and end with it', () =>
  whileItWrites(async (of, talks, id, job) => {
    const live = await of.listen(id, { after: 0 });
    talks.until(() => deltas(live) > 5);
    await live.until(finished(job));
    const stored = await texts(id, of);
    const shown = addUp(live.received);
    expect(new Map([...shown].map(([message, { text }]) => [message, text]))).toEqual(stored);
    const [message] = stored.keys();
    const place = (is: (received: ReceivedEvent) => boolean): number => live.received.findIndex(is);
    const states = live.received
      .filter(({ event }) => event === 'StateChanged')
      .map(({ id: number, data }) => `${data.new_state}${number === null ? ' (fleeting)' : ''}`);
    expect(states.slice(0, 5)).toEqual(
      [
        'ProcessingUserMessage',
        'AwaitingLLMResponse',
        'StreamingLLMResponse (fleeting)',
        'ProcessingLLMResponse (fleeting)',
        'Idle',
      ].slice(0, states.length),
    );
    const thought = place(({ event }) => event === 'ThinkingDelta');
    expect(thought).toBeGreaterThan(-1);
    expect(thought).toBeLessThan(place(({ event }) => event === 'ContentDelta'));
    const completed = place(({ data }) => data.message_id === message && data.role === 'assistant');
    expect(live.received.findLastIndex(({ event }) => event === 'ContentDelta')).toBeLessThan(completed);
    for (const received of live.received) if (received.event.endsWith('Delta')) expect(received.id).toBeNull();
    check(live.received);
  }));

test('a subscriber that joins in the middle of a message receives all of it so far, then the rest', () =>
  whileItWrites(async (of, talks, id, job) => {
    const first = await of.listen(id);
    await until('it to be received', () => deltas(first) > 5);
    const late = await of.listen(id);
    talks.until(() => deltas(late) > 5);
    await Promise.all([first, late].map((client) => client.until(finished(job))));
    const [began, told] = [first, late].map(
      ({ received }) => received.find(({ data }) => data.new_state === 'StreamingLLMResponse')?.data,
    );
    expect(Date.parse(began.first_token_at)).toBeLessThanOrEqual(Date.parse(began.at));
    expect(told.first_token_at).toBe(began.first_token_at);
    expect(Date.parse(told.first_token_at)).toBeLessThan(Date.parse(told.at));
    expect(late.received.find(({ event }) => event === 'ContentSnapshot')?.data.text).not.toBe('');
    const stored = await texts(id, of);
    for (const client of [first, late])
      expect(new Map([...addUp(client.received)].map(([message, { text }]) => [message, text]))).toEqual(stored);
    check([...first.received, ...late.received]);
  }));

test('the first subscriber to a half-written message receives all of it', () =>
  whileItWrites(async (of, talks, id, job) => {
    await talks.begun;
    const late = await of.listen(id);
    talks.until(() => late.received.some(({ event }) => event === 'ContentSnapshot'));
    await late.until(finished(job));
    expect(new Map([...addUp(late.received)].map(([message, { text }]) => [message, text]))).toEqual(
      await texts(id, of),
    );
    check(late.received);
  }));

test('a second attempt voids the text of the first, under the same message', async () => {
  const { id } = await installation.client.createContext({});
  const live = await listen(id);
  simulated.until(({ failures }) =>
    live.received.some(({ event, data }) => event.startsWith('Content') && data.attempt === failures + 1),
  );
  const job = await say(id, 'say: partial\nfail: stream_interrupted times 1\nsay: whole');
  await live.until(finished(job));
  const deltas = live.received.filter(({ event }) => event === 'ContentDelta' || event === 'ContentSnapshot');
  expect(new Set(deltas.map(({ data }) => data.message_id)).size).toBe(1);
  expect([...new Set(deltas.map(({ data }) => data.attempt))]).toEqual([1, 2]);
  const [shown] = addUp(live.received).values();
  expect(shown).toMatchObject({ attempt: 2, text: 'partial\nwhole' });
});

test('an answer that is not streamed is published when it is complete', async () => {
  const { id } = await installation.client.createContext({ streaming: false });
  const live = await listen(id);
  const job = await say(id, 'wait: 100ms\nsay: whole');
  await live.until(finished(job));
  expect(live.received.some(({ event, data }) => event === 'MessageCompleted' && data.role === 'assistant')).toBe(true);
  expect(addUp(live.received).size).toBe(0);
});

test.each(['cancel', 'interrupt'])('after a %s no more frames of the job are published', async (how) => {
  const { id } = await installation.client.createContext({});
  const live = await listen(id, { after: 0 });
  const job = await say(id, 'call: look {}\nthen:\ntokens: 500 over 20s');
  const { data: begun } = await live.until(({ event }) => event === 'ContentDelta');
  const path = how === 'cancel' ? `jobs/${job}/cancel` : `contexts/${id}/interrupt`;
  const response = await fetch(`${installation.servers[0]?.url}/api/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ wait_ms: 60_000 }),
  });
  expect(response.status).toBe(200);
  await live.until(finished(job));
  const next = await say(id, 'say: next');
  await live.until(finished(next));
  const after = live.received.slice(live.received.findIndex(finished(job)) + 1);
  for (const { data } of after) {
    expect(data.job_id).not.toBe(job);
    expect(data.message_id).not.toBe(begun.message_id);
  }
  expect(live.received.some(({ event }) => event === 'MessagesRetracted')).toBe(how === 'interrupt');
  const head = await headOf(id);
  await live.until((received) => received.id === head);
  expect(numbered(live.received)).toEqual(await replay(id));
});

describe('a cursor', () => {
  let id = '';
  let all: ReceivedEvent[] = [];
  beforeAll(async () => {
    ({ id } = await installation.client.createContext({}));
    const live = await listen(id);
    for (let count = 0; count < 3; count += 1) await live.until(finished(await say(id, `say: ${count}`)));
    await live.until(({ event, id: number }) => event === 'StateChanged' && number !== null);
    all = await replay(id);
  });

  const from = async (client: SseClient): Promise<ReceivedEvent[]> => {
    await client.until(({ id: number }) => number === all.at(-1)?.id);
    return client.received;
  };

  test('resumes after its number', async () => {
    expect(await from(await listen(id, { after: 4 }))).toEqual(all.slice(4));
    expect(await from(await listen(id, { lastEventId: '7' }))).toEqual(all.slice(7));
  });

  test('in the header wins', async () => {
    expect(await from(await listen(id, { after: 0, lastEventId: '9' }))).toEqual(all.slice(9));
  });

  test('beyond the last number counts as the last, and without a cursor the stream starts live', async () => {
    for (const ask of [{ after: 1_000_000 }, {}]) {
      const client = await listen(id, ask);
      await until('the first words', () => client.lastId() !== null);
      expect(client.lastId()).toBe(String(all.at(-1)?.id));
      expect(client.received).toEqual([]);
    }
  });

  test.each([{ after: 'x' }, { after: '-1' }, { after: '1.5' }, { lastEventId: 'x' }, { lastEventId: '-1' }])(
    'that is invalid is refused: %o',
    async (ask) => {
      const client = await listen(id, ask);
      expect(client.status).toBe(422);
    },
  );
});

test('of a missing context is not found', async () => {
  for (const id of ['018f0000-0000-7000-8000-000000000000', 'x']) {
    const client = await listen(id);
    expect(client.status).toBe(404);
  }
});

test('ends when its context is deleted', async () => {
  const { id, worker_id: workerId } = await installation.client.createContext({});
  const client = await listen(id);
  const response = await fetch(`${installation.servers[0]?.url}/api/workers/${workerId}`, {
    method: 'DELETE',
  });
  expect(response.status).toBe(204);
  await client.ended;
});

test('costs Postgres one query a second, however many contexts are followed, and none without subscribers', async () => {
  const contexts = await Promise.all(Array.from({ length: 30 }, () => installation.client.createContext({})));
  const clients = await Promise.all(contexts.map(({ id }) => listen(id)));
  installation.statements.length = 0;
  const began = performance.now();
  // Streams without keys end when the first key is made: for all of them, that is asked twice a second.
  const ofKeys = () => installation.statements.filter((text) => tagOf(text) === 'api_keys.find_any').length;
  const ofStreams = () => installation.statements.length - ofKeys();
  await until('three looks', () => ofStreams() >= 3);
  // One may come at once, and timers a little early.
  expect(ofStreams()).toBeLessThanOrEqual(1 + (performance.now() - began) / 990);
  expect(ofKeys()).toBeLessThanOrEqual(2 + (performance.now() - began) / 440);
  for (const client of clients) client.close();
  await Promise.all(clients.map(({ ended }) => ended));
  await until('all to be gone', async () =>
    /^nightshift_streams 0$/m.test(await (await fetch(`${installation.servers[0]?.url}/metrics`)).text()),
  );
  installation.statements.length = 0;
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(installation.statements).toEqual([]);
});

test('a turn with subscribers is read once at most: the rest is published in full', async () => {
  const { id } = await installation.client.createContext({});
  const live = await listen(id);
  await live.until(finished(await say(id, 'say: first')));
  const before = await resyncs();
  const began = performance.now();
  const job = await say(id, 'say: hello\ncall: look {}\nthen:\nsay: done');
  await live.until(finished(job));
  // The poll once a second may be faster than a publish; entries published while it reads are read as well.
  const seconds = Math.ceil((performance.now() - began) / 990);
  expect((await resyncs()) - before).toBeLessThanOrEqual(seconds);
});

test('late frames of an answer that was stored before anyone subscribed are not sent', async () => {
  const { id } = await installation.client.createContext({});
  const jobId = await say(id, 'say: over');
  const { output } = await installation.client.ended(jobId);
  const bus = localBus();
  const streamHub = openStreamHub(installation.database, bus);
  const joined = await streamHub.join(DEFAULT_TENANT, id as ContextId, null);
  const received: StreamEvent[] = [];
  joined?.start({
    send: (events) => void received.push(...events),
    drained: async () => undefined,
    end: () => undefined,
  });
  const [row] = await installation.query(`select lease_epoch from contexts where id = '${id}'`);
  const of = {
    jobId: jobId as JobId,
    messageId: output?.message_id as MessageId,
    attempt: 1,
    epoch: Number(row?.['lease_epoch']),
  };
  bus.publish(deltasOf(id as ContextId), { kind: 'began', of, at: 0 });
  bus.publish(deltasOf(id as ContextId), { kind: 'delta', of, channel: 'text', delta: 'over', sequence: 0 });
  const next = await say(id, 'say: next');
  await until('the next job to end', () =>
    received.some(({ name, data }) => name === 'JobFinished' && data['job_id'] === next),
  );
  expect(
    received.filter(
      ({ seq, data }) => seq === null && (data['message_id'] === of.messageId || data['job_id'] === jobId),
    ),
  ).toEqual([]);
  joined?.stop();
  streamHub.close();
  await bus.close();
});
