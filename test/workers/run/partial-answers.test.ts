// Answers that are not finished when their job ends: what was streamed is kept beside the history, once or not at all.
import { sql } from 'drizzle-orm';
import { afterEach, describe, expect, test } from 'vitest';
import type { ModelListener, ModelRequest } from '../../../src/core/model/model.ts';
import { DEFAULT_TENANT, type ContextId, type JobId } from '../../../src/core/ids.ts';
import { INTERRUPT_MODES } from '../../../src/core/run/job.ts';
import { stopWorker } from '../../../src/commands/workers/stop-worker.ts';
import { readEvents } from '../../../src/db/read/messages/event-views.ts';
import { listMessages, type MessageRange } from '../../../src/db/read/messages/message-views.ts';
import { findInterruption } from '../../../src/db/run/receipts.ts';
import { listSteps } from '../../../src/db/read/jobs/step-views.ts';
import {
  aborted,
  fails,
  says,
  startFleet,
  transcript,
  type Fleet,
  type FleetOptions,
  type Script,
} from '../worker-fleet.ts';

let fleet: Fleet | null = null;
const start = async (options: FleetOptions): Promise<Fleet> => (fleet = await startFleet(options));
afterEach(async () => {
  await fleet?.close();
  fleet = null;
});

const RANGE: MessageRange = {
  branch: null,
  turn: null,
  order: 'asc',
  retracted: true,
  compacted: true,
  after: { seq: null, queue: null },
  limit: 50,
};

async function views(of: Fleet, contextId: ContextId, range: Partial<MessageRange> = {}) {
  const listed = await listMessages(of.database.db, DEFAULT_TENANT, contextId, { ...RANGE, ...range });
  return listed?.messages ?? [];
}

const partials = async (of: Fleet, contextId: ContextId) =>
  (await views(of, contextId)).filter(({ type }) => type === 'partial');

const steps = async (of: Fleet, jobId: JobId) =>
  (await listSteps(of.database.db, DEFAULT_TENANT, jobId, { after: 0, limit: 50 }))?.steps ?? [];

/** The counters of the context, as its rows give them. */
async function expectCounted(of: Fleet, contextId: ContextId): Promise<void> {
  await of.atRest();
  const [counted] = await of.query(`select c.message_count, c.stored_bytes,
    (select count(*) from messages where context_id = c.id and status = 'completed') as messages,
    (select sum(bytes) from messages where context_id = c.id) as bytes,
    (select message_count from branches where context_id = c.id) as of_branch
    from contexts c where c.id = '${contextId}'`);
  expect(counted).toMatchObject({ message_count: counted?.['messages'], of_branch: counted?.['messages'] });
  expect(counted?.['stored_bytes']).toBe(counted?.['bytes']);
}

/** A model that streams the first answer until it is stopped. `streaming`: resolves when it has. */
function streams(text: string): { model: Script; streaming: Promise<void>; requests: ModelRequest[] } {
  const { promise: streaming, resolve } = Promise.withResolvers<void>();
  const requests: ModelRequest[] = [];
  const model: Script = async (request, signal, listener) => {
    requests.push(request);
    if (requests.length > 1) return says('whole');
    stream(listener, text);
    resolve();
    await aborted(signal);
    return { kind: 'aborted' };
  };
  return { model, streaming, requests };
}

function stream(listener: ModelListener, text: string): void {
  listener.started();
  listener.thinking('hm');
  for (const delta of text) listener.text(delta);
}

const STOPS: Record<string, (of: Fleet, contextId: ContextId, jobId: JobId) => Promise<unknown>> = {
  cancel: (of, _, jobId) => of.cancel(jobId),
  stop: (of, contextId) => of.perform(stopWorker(of.ports, { tenantId: DEFAULT_TENANT, contextId }, { by: null })),
  ...Object.fromEntries(
    INTERRUPT_MODES.map((mode) => [
      `interrupt, ${mode}`,
      (of: Fleet, contextId: ContextId) => of.interrupt(contextId, mode),
    ]),
  ),
  'an input that interrupts': (of, contextId) => of.post(contextId, 'instead', { delivery: 'interrupt' }),
};

describe.each(Object.entries(STOPS))('%s', (name, stop) => {
  test('keeps the text that was streamed, beside the history', async () => {
    const { model, streaming, requests } = streams('Half an answ');
    const of = await start({ model });
    const { contextId } = await of.createContext();
    const { jobId } = await of.post(contextId, 'first');
    await streaming;
    await stop(of, contextId, jobId);
    const job = await of.ended(jobId);
    const [partial, ...more] = await partials(of, contextId);
    expect(more).toEqual([]);
    expect(partial).toMatchObject({
      role: 'assistant',
      status: 'retracted',
      turn: 'a1',
      jobId,
      content: [{ type: 'text', text: 'Half an answ' }],
      model: null,
      retraction: { cause: name.split(',')[0]?.startsWith('an input') ? 'interrupt' : name.split(',')[0], by: null },
    });
    const [asked] = await of.query(
      `select extract(epoch from stop_requested_at) * 1000 as at from jobs where id = '${jobId}'`,
    );
    expect(partial?.retraction?.at).toBe(Number(asked?.['at']));
    expect(job).toMatchObject({ steps: 0, output_tokens: 0 });
    const receipt = await findInterruption(of.database.db, DEFAULT_TENANT, { contextId, jobId });
    expect(receipt?.removed).not.toContain(partial?.id);
    // Nothing of it is in later prompts, in lists that do not ask for it, or in counters.
    if (name === 'stop') return;
    if (!name.startsWith('an input')) await of.ended((await of.post(contextId, 'second')).jobId);
    await of.atRest();
    expect(JSON.stringify(requests.slice(1))).not.toContain('Half');
    expect(requests.length).toBe(2);
    expect((await views(of, contextId, { retracted: false })).some(({ type }) => type === 'partial')).toBe(false);
    expect(transcript(await of.history(contextId)).join()).not.toContain('Half');
    await expectCounted(of, contextId);
  });
});

test('a stopped call stays in the timeline, with and without text', async () => {
  const { model, streaming } = streams('');
  const of = await start({ model });
  const { contextId } = await of.createContext();
  const { jobId } = await of.post(contextId, 'first');
  await streaming;
  await of.cancel(jobId);
  await of.ended(jobId);
  expect(await partials(of, contextId)).toEqual([]);
  const [step, ...more] = await steps(of, jobId);
  expect(more).toEqual([]);
  expect(step).toMatchObject({ kind: 'model', status: 'cancelled', attempt: 1, call: 1, error: null, usage: null });
  expect(step?.endedAt).toBeGreaterThanOrEqual(step?.firstTokenAt ?? Infinity);
});

test('the event of an unfinished answer has a number, and is not that of a completed message', async () => {
  const { model, streaming } = streams('Half');
  const of = await start({ model });
  const { contextId } = await of.createContext();
  const { jobId } = await of.post(contextId, 'first');
  await streaming;
  await of.cancel(jobId);
  await of.ended(jobId);
  const events = await readEvents(of.database.db, DEFAULT_TENANT, contextId, { after: 0, limit: 100 });
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
  const [partial] = await partials(of, contextId);
  const named = events.filter(({ data }) => data['message_id'] === partial?.id);
  expect(named).toMatchObject([
    { seq: partial?.seq, name: 'MessageIncomplete', data: { turn: 'a1', role: 'assistant', type: 'partial' } },
  ]);
});

test('two stops at once keep the text once', async () => {
  const { model, streaming } = streams('Half');
  const of = await start({ model });
  const { contextId } = await of.createContext();
  const { jobId } = await of.post(contextId, 'first');
  await streaming;
  await Promise.all([of.cancel(jobId), of.interrupt(contextId, 'keep'), of.cancel(jobId)]);
  await of.ended(jobId);
  await of.atRest();
  expect(await partials(of, contextId)).toHaveLength(1);
});

test('a refused answer is kept, and its call has failed', async () => {
  const of = await start({
    model: (_, __, listener) => {
      stream(listener, 'Well, first you');
      return fails({ class: 'refused', message: 'declined to answer', retryAfterMs: null });
    },
  });
  const { contextId } = await of.createContext();
  const { jobId } = await of.post(contextId, 'how?');
  expect(await of.ended(jobId)).toMatchObject({ status: 'failed', error: { code: 'provider_refused' } });
  expect(await partials(of, contextId)).toMatchObject([
    { content: [{ type: 'text', text: 'Well, first you' }], retraction: { cause: 'refused', by: null } },
  ]);
  expect(await steps(of, jobId)).toMatchObject([
    { kind: 'model', status: 'failed', error: { code: 'provider_refused' } },
  ]);
  await expectCounted(of, contextId);
});

test('the text of a call that is tried again is void', async () => {
  let calls = 0;
  const of = await start({
    model: (_, __, listener) => {
      calls += 1;
      if (calls > 1) return says('whole');
      stream(listener, 'Half');
      return fails({ class: 'stream_interrupted', message: 'cut', retryAfterMs: null });
    },
  });
  const { contextId } = await of.createContext();
  await of.ended((await of.post(contextId, 'first')).jobId);
  expect(await partials(of, contextId)).toEqual([]);
});

test('an answer that passes the deadline of its job is kept', async () => {
  const { model, streaming } = streams('Half');
  const of = await start({ model });
  const { contextId } = await of.createContext();
  const { jobId } = await of.post(contextId, 'first', { deadlineMs: 1_500 });
  await streaming;
  expect(await of.ended(jobId)).toMatchObject({ status: 'incomplete', error: { code: 'deadline' } });
  expect(await partials(of, contextId)).toMatchObject([{ retraction: { cause: 'deadline', by: null } }]);
});

test('a process that is lost before the stop leaves no text, and the job ends without it', async () => {
  const { model, streaming } = streams('Half');
  const of = await start({ model });
  const { contextId } = await of.createContext();
  const { jobId } = await of.post(contextId, 'first');
  await streaming;
  // The owner is fenced off: what its run knows may not be stored any more.
  await of.database.db.execute(sql`update contexts set lease_epoch = lease_epoch + 1, lease_owner = null,
    scheduling_status = 'waiting', next_check_at = clock_timestamp() + interval '1 hour' where id = ${contextId}`);
  await of.cancel(jobId);
  expect(await of.ended(jobId)).toMatchObject({ status: 'cancelled' });
  expect(await partials(of, contextId)).toEqual([]);
});
