// Questions to a person, and calls that a client runs: they wait without a slot, for as long as it takes, and every end
// of the wait leaves a valid transcript.
import { afterEach, describe, expect, test } from 'vitest';
import { stopWorker } from '../../../src/commands/workers/stop-worker.ts';
import { deleteWorker } from '../../../src/commands/workers/delete-worker.ts';
import { DEFAULT_TENANT, type ContextId, type JobId, type ToolCallId } from '../../../src/core/ids.ts';
import { INTERRUPT_MODES } from '../../../src/core/run/job.ts';
import { assemble } from '../../../src/core/conversation/prompt.ts';
import { findInterruption, findReceipt } from '../../../src/db/run/receipts.ts';
import {
  result,
  says,
  startFleet,
  transcript,
  type Fleet,
  type FleetOptions,
  type Script,
  type Tools,
} from '../worker-fleet.ts';

let fleet: Fleet | null = null;
const start = async (options: Partial<FleetOptions> & { model: Script }): Promise<Fleet> =>
  (fleet = await startFleet({ tools: OUTSIDE, ...options }));
afterEach(async () => {
  await fleet?.close();
  fleet = null;
});

const never = () => {
  throw new Error('The call is answered from outside.');
};
const OUTSIDE: Tools = {
  ask_user: { answered_by: 'person', execute: never },
  locate: { answered_by: 'client', effect: 'once', execute: never },
};

const asks = (...questions: string[]) =>
  says('', ...questions.map((question) => ({ name: 'ask_user', input: { question } })));

const textOf = (content: unknown) => (typeof content === 'string' ? content : '');

/** Asks with its first answer, and repeats the results in the second. */
function asking(...questions: string[]): Script {
  return ({ messages }) => {
    const results = messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === 'tool_result' ? [textOf(block.content)] : [])),
    );
    return results.length === 0 ? asks(...questions) : says(`told: ${results.join(', ')}`);
  };
}

async function waiting(of: Fleet, jobId: JobId): Promise<ToolCallId[]> {
  await of.until(async () => (await of.job(jobId))['status'] === 'waiting');
  const calls = await of.query(
    `select id from tool_calls where job_id = '${jobId}' and status = 'waiting' order by ordinal`,
  );
  return calls.map((call) => call['id'] as ToolCallId);
}

const lines = async (of: Fleet, contextId: ContextId) => transcript(await of.history(contextId));

const contextRow = async (of: Fleet, contextId: ContextId) =>
  (await of.query(`select * from contexts where id = '${contextId}'`))[0];

const events = async (of: Fleet, contextId: ContextId) =>
  (await of.query(`select name, data from events where context_id = '${contextId}' order by seq`)).map(
    ({ name, data }) => ({ name, data }),
  );

/** Idle, with counters that equal the stored rows, and with a prompt that lacks no result. */
async function expectAtRest(of: Fleet, contextId: ContextId): Promise<void> {
  await of.until(async () => (await contextRow(of, contextId))?.['scheduling_status'] === 'idle');
  const history = await of.history(contextId);
  expect(await contextRow(of, contextId)).toMatchObject({
    queued: 0,
    steers: 0,
    message_count: history.length,
  });
  expect(await of.query(`select 1 from jobs where finished_at is null`)).toEqual([]);
  expect(await of.query(`select 1 from tool_calls where finished_at is null`)).toEqual([]);
  expect(JSON.stringify(assemble(history))).not.toContain('No result was recorded');
}

describe('a question', () => {
  test('waits without a slot, and its answer continues the job', async () => {
    const of = await start({ model: asking('Which size?') });
    const { contextId } = await of.createContext();
    const { jobId } = await of.post(contextId, 'order');
    const [question] = await waiting(of, jobId);
    await of.atRest();
    expect(await contextRow(of, contextId)).toMatchObject({
      scheduling_status: 'waiting',
      state: 'AwaitingInput',
      lease_owner: null,
      failed_claims: 0,
    });
    expect((await of.history(contextId)).at(-1)).toMatchObject({ type: 'question' });
    expect(await events(of, contextId)).toContainEqual({
      name: 'InputRequested',
      data: {
        tool_call_id: question,
        name: 'ask_user',
        job_id: jobId,
        question: 'Which size?',
        choices: null,
        input: null,
      },
    });
    if (question === undefined) throw new Error('No question was asked.');
    const { messageId, ...answered } = await of.answer(contextId, question, 'M');
    expect(answered).toMatchObject({ jobId, contextId });
    expect(await of.ended(jobId)).toMatchObject({ status: 'completed', attempt: 1 });
    expect(await lines(of, contextId)).toEqual([
      'u1 user: order',
      'a1 assistant: →ask_user',
      'a1 tool: ←M',
      'a1 assistant: told: M',
    ]);
    expect((await of.history(contextId))[2]).toMatchObject({ id: messageId, type: 'tool_result' });
    await expectAtRest(of, contextId);
  });

  test('is answered by a plain input, the oldest first; an input after the last is queued', async () => {
    const of = await start({ model: asking('Size?', 'Colour?') });
    const { contextId } = await of.createContext();
    const { jobId } = await of.post(contextId, 'order');
    await waiting(of, jobId);
    const first = await of.post(contextId, 'M');
    const second = await of.post(contextId, 'red');
    const third = await of.post(contextId, 'thanks');
    expect([first.jobId, second.jobId]).toEqual([jobId, jobId]);
    expect(third.jobId).not.toBe(jobId);
    await of.ended(third.jobId);
    const history = await of.history(contextId);
    expect(transcript(history).slice(0, 6)).toEqual([
      'u1 user: order',
      'a1 assistant: →ask_user →ask_user',
      'a1 tool: ←M',
      'a1 tool: ←red',
      'a1 assistant: told: M, red',
      'u2 user: thanks',
    ]);
    expect(history.slice(2, 4).map(({ id }) => id)).toEqual([first.messageId, second.messageId]);
    await expectAtRest(of, contextId);
  });

  test.each([
    ['with a priority', { priority: 1 }],
    ['that steers', { delivery: 'steer' as const }],
  ])('an input %s does not answer it', async (_, options) => {
    const of = await start({ model: asking('Size?') });
    const { contextId } = await of.createContext();
    const { jobId } = await of.post(contextId, 'order');
    const [question] = await waiting(of, jobId);
    await of.post(contextId, 'something else', options);
    expect(await waiting(of, jobId)).toEqual([question]);
    expect((await of.post(contextId, 'M')).jobId).toBe(jobId);
    await of.until(async () => (await lines(of, contextId)).includes('a1 tool: ←M'));
    await of.until(async () => (await lines(of, contextId)).some((line) => line.includes('something else')));
    await expectAtRest(of, contextId);
  });

  test('beside tools that run: results arrive in any order, and no model is called before the answer', async () => {
    const slow = Promise.withResolvers<void>();
    let calls = 0;
    const of = await start({
      tools: {
        ...OUTSIDE,
        quick: { execute: () => result('q') },
        slow: { execute: () => slow.promise.then(() => result('s')) },
      },
      model: () => {
        calls += 1;
        if (calls > 1) return says('done');
        return says(
          '',
          { name: 'slow', input: {} },
          { name: 'ask_user', input: { question: 'Sure?' } },
          { name: 'quick', input: {} },
        );
      },
    });
    const { contextId } = await of.createContext();
    const { jobId } = await of.post(contextId, 'go');
    await of.until(async () => (await lines(of, contextId)).length === 3);
    expect((await lines(of, contextId)).at(-1)).toBe('a1 tool: ←q');
    expect(await contextRow(of, contextId)).toMatchObject({
      scheduling_status: 'running',
      state: 'ExecutingTools',
    });
    expect((await of.post(contextId, 'yes')).jobId).toBe(jobId);
    slow.resolve();
    await of.ended(jobId);
    expect((await lines(of, contextId)).slice(3).toSorted()).toEqual([
      'a1 assistant: done',
      'a1 tool: ←s',
      'a1 tool: ←yes',
    ]);
    expect(calls).toBe(2);
    await expectAtRest(of, contextId);
  });

  test('without text is a mistake of the model, and asks no person', async () => {
    let calls = 0;
    const of = await start({
      tools: {
        ask_user: {
          answered_by: 'person',
          execute: () => ({ kind: 'result', content: 'bad', is_error: true }),
        },
      },
      model: () => ((calls += 1) === 1 ? says('', { name: 'ask_user', input: { q: 1 } }) : says('sorry')),
    });
    const { contextId } = await of.createContext();
    const { jobId } = await of.post(contextId, 'go');
    await of.ended(jobId);
    expect((await events(of, contextId)).map(({ name }) => name)).not.toContain('InputRequested');
    expect((await of.history(contextId))[1]).toMatchObject({ type: 'tool_call' });
    await expectAtRest(of, contextId);
  });

  test('answered twice at once is answered once', async () => {
    const of = await start({ model: asking('Size?') });
    const { contextId } = await of.createContext();
    const { jobId } = await of.post(contextId, 'order');
    const [question] = await waiting(of, jobId);
    if (question === undefined) throw new Error('No question was asked.');
    const answers = await Promise.allSettled([
      of.answer(contextId, question, 'M'),
      of.answer(contextId, question, 'L'),
      of.post(contextId, 'S'),
    ]);
    const [byCall, alsoByCall, byInput] = answers;
    const refused = [byCall, alsoByCall].filter((answer) => answer?.status === 'rejected');
    expect(byInput?.status).toBe('fulfilled');
    await of.ended(jobId);
    const received = (await lines(of, contextId)).filter((line) => line.includes('tool: ←'));
    expect(received).toHaveLength(1);
    expect(received[0] === 'a1 tool: ←S' ? 2 : 1).toBe(refused.length);
    for (const answer of refused) expect(String(answer?.reason)).toMatch(/not_waiting/);
    await expectAtRest(of, contextId);
  });
});

describe('a wait for an answer ends', () => {
  const isAsked = async (options: Partial<FleetOptions> = {}) => {
    const of = await start({ model: asking('Size?'), ...options });
    const { contextId, workerId } = await of.createContext();
    const { jobId } = await of.post(contextId, 'order');
    const [question] = await waiting(of, jobId);
    if (question === undefined) throw new Error('No question was asked.');
    return { of, contextId, workerId, jobId, question };
  };
  const unanswered = ['u1 user: order', 'a1 assistant: →ask_user', 'a1 tool: ←No answer arrived before the job ended.'];

  test.each(INTERRUPT_MODES)('with an interrupt, %s, and no run is needed', async (mode) => {
    const { of, contextId, jobId } = await isAsked();
    await Promise.all(of.processes.map((process) => process.drain()));
    expect(await of.interrupt(contextId, mode)).toBe(jobId);
    expect(await of.job(jobId)).toMatchObject({ status: 'interrupted' });
    const receipt = await findReceipt(of.database.db, DEFAULT_TENANT, jobId);
    expect(receipt?.deliveredAt).not.toBeNull();
    expect(receipt?.stoppedAt).not.toBeNull();
    const taken = await findInterruption(of.database.db, DEFAULT_TENANT, { contextId, jobId });
    expect(taken?.effects).toEqual([]);
    expect(taken?.removed).toHaveLength({ discard: 1, rollback: 2, keep: 0 }[mode]);
    expect(await lines(of, contextId)).toEqual(
      { discard: unanswered.slice(0, 1), rollback: [], keep: unanswered }[mode],
    );
    await expectAtRest(of, contextId);
  });

  test('with an input that interrupts, which is next', async () => {
    const { of, contextId, jobId } = await isAsked();
    const next = await of.post(contextId, 'forget it', { delivery: 'interrupt' });
    expect(await of.ended(jobId)).toMatchObject({ status: 'interrupted' });
    expect(await waiting(of, next.jobId)).toHaveLength(1);
    expect((await lines(of, contextId)).slice(0, 2)).toEqual(['u1 user: order', 'u2 user: forget it']);
    await of.cancel(next.jobId);
    await expectAtRest(of, contextId);
  });

  test('with a cancel', async () => {
    const { of, contextId, jobId, question } = await isAsked();
    await of.cancel(jobId);
    expect(await of.job(jobId)).toMatchObject({ status: 'cancelled' });
    expect(await lines(of, contextId)).toEqual(unanswered);
    await expect(of.answer(contextId, question, 'M')).rejects.toThrow(/not_waiting/);
    expect((await of.post(contextId, 'M')).jobId).not.toBe(jobId);
  });

  test('with a stop of the worker', async () => {
    const { of, contextId, jobId } = await isAsked();
    await of.perform(stopWorker(of.ports, { tenantId: DEFAULT_TENANT, contextId }, { by: null }));
    expect(await of.job(jobId)).toMatchObject({ status: 'cancelled' });
    expect(await contextRow(of, contextId)).toMatchObject({ state: 'Stopped', scheduling_status: 'idle' });
    expect(await lines(of, contextId)).toEqual(unanswered);
  });

  test('with the deadline of its job', async () => {
    const of = await start({ model: asking('Size?') });
    const { contextId } = await of.createContext();
    const { jobId } = await of.post(contextId, 'order', { deadlineMs: 3_600_000 });
    await waiting(of, jobId);
    await of.passDeadline(jobId);
    expect(await of.ended(jobId)).toMatchObject({ status: 'incomplete', error: { code: 'deadline' } });
    expect(await lines(of, contextId)).toEqual(unanswered);
    await expectAtRest(of, contextId);
  });

  test('with the removal of its worker', async () => {
    const { of, workerId } = await isAsked();
    await deleteWorker(of.ports, DEFAULT_TENANT, workerId);
    expect(await of.query('select 1 from tool_calls')).toEqual([]);
  });

  test('an answer that came before the end counts', async () => {
    const { of, contextId, jobId, question } = await isAsked();
    await Promise.all(of.processes.map((process) => process.drain()));
    await of.answer(contextId, question, 'M');
    await of.cancel(jobId);
    expect((await lines(of, contextId)).at(-1)).toBe('a1 tool: ←M');
    expect(await of.query(`select status from tool_calls`)).toEqual([{ status: 'completed' }]);
    await expectAtRest(of, contextId);
  });
});

describe("a client's tool", () => {
  test("waits for the client's result, and a plain input is no result", async () => {
    let calls = 0;
    const of = await start({
      model: () => ((calls += 1) === 1 ? says('', { name: 'locate', input: { who: 'me' } }) : says('there')),
    });
    const { contextId } = await of.createContext();
    const { jobId } = await of.post(contextId, 'where am I?');
    const [call] = await waiting(of, jobId);
    if (call === undefined) throw new Error('No question was asked.');
    expect(await events(of, contextId)).toContainEqual(
      expect.objectContaining({
        name: 'InputRequested',
        data: expect.objectContaining({ name: 'locate', question: null, input: { who: 'me' } }),
      }),
    );
    expect((await of.history(contextId)).at(-1)).toMatchObject({ type: 'tool_call' });
    const queued = await of.post(contextId, 'hello?');
    expect(queued.jobId).not.toBe(jobId);
    await of.answer(contextId, call, 'Ghent');
    expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
    await of.ended(queued.jobId);
    expect((await lines(of, contextId)).slice(2, 4)).toEqual(['a1 tool: ←Ghent', 'a1 assistant: there']);
    await expectAtRest(of, contextId);
  });

  test('that was to run when its job ended may have run: the note and the receipt say so', async () => {
    const of = await start({ model: () => says('', { name: 'locate', input: {} }) });
    const { contextId } = await of.createContext();
    const { jobId } = await of.post(contextId, 'where am I?');
    await waiting(of, jobId);
    await of.interrupt(contextId, 'discard');
    await of.ended(jobId);
    const found = await findInterruption(of.database.db, DEFAULT_TENANT, { contextId, jobId });
    const { effects = null } = found ?? {};
    expect(effects).toMatchObject([{ name: 'locate', status: 'unknown' }]);
    expect((await lines(of, contextId)).at(-1)).toMatch(/system: .*locate/);
    await expectAtRest(of, contextId);
  });
});
