// Interrupting and steering jobs that run, wait, or are about to end: each leaves a valid state and a correct receipt.
import { afterEach, describe, expect, test } from 'vitest';
import type { Accepted } from '../../../src/commands/inputs/posted-input.ts';
import { changeInput, withdrawInput } from '../../../src/commands/inputs/change-input.ts';
import { DEFAULT_TENANT, type ContextId, type JobId } from '../../../src/core/ids.ts';
import { INTERRUPT_MODES } from '../../../src/core/run/job.ts';
import { LIMITS } from '../../../src/core/limits.ts';
import type { PromptMessage } from '../../../src/core/conversation/prompt.ts';
import { findInterruption } from '../../../src/db/run/receipts.ts';
import { stopWorker } from '../../../src/commands/workers/stop-worker.ts';
import {
  aborted,
  fails,
  result,
  says,
  startFleet,
  transcript,
  type Fleet,
  type FleetOptions,
} from '../worker-fleet.ts';

let fleet: Fleet | null = null;
const start = async (options: FleetOptions): Promise<Fleet> => (fleet = await startFleet(options));
afterEach(async () => {
  await fleet?.close();
  fleet = null;
});

/** A point of a test that others wait for. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: () => resolve() };
}

async function receiptOf(of: Fleet, contextId: ContextId, jobId: JobId) {
  const receipt = await findInterruption(of.database.db, DEFAULT_TENANT, { contextId, jobId });
  if (receipt === null) throw new Error('no such job');
  return receipt;
}

/** Idle, with counters that equal the stored rows. */
async function expectAtRest(of: Fleet, contextId: ContextId): Promise<void> {
  await of.until(async () => (await of.query(`select 1 from contexts where scheduling_status <> 'idle'`)).length === 0);
  const [context] = await of.query(`select * from contexts where id = '${contextId}'`);
  const history = await of.history(contextId);
  expect(context).toMatchObject({ queued: 0, steers: 0, message_count: history.length });
  expect(await of.query(`select 1 from jobs where finished_at is null`)).toEqual([]);
}

const lines = async (of: Fleet, contextId: ContextId) => transcript(await of.history(contextId));

describe('an interrupt', () => {
  test.each(INTERRUPT_MODES)('in the middle of an answer, %s: the call ends, the next input works', async (mode) => {
    const called = gate();
    let calls = 0;
    const of = await start({
      model: async (_, signal) => {
        calls += 1;
        if (calls > 1) return says('again');
        called.open();
        await aborted(signal);
        return { kind: 'aborted' };
      },
    });
    const { contextId } = await of.createContext();
    const { jobId } = await of.post(contextId, 'first');
    await called.opened;
    expect(await of.interrupt(contextId, mode)).toBe(jobId);
    expect(await of.ended(jobId)).toMatchObject({ status: 'interrupted', stop_mode: mode });
    const receipt = await receiptOf(of, contextId, jobId);
    expect(receipt).toMatchObject({ status: 'interrupted', effects: [] });
    expect(receipt.removed).toHaveLength(mode === 'rollback' ? 1 : 0);
    expect(receipt.requestedAt).toBeLessThanOrEqual(receipt.stoppedAt ?? 0);
    const { jobId: next } = await of.post(contextId, 'second');
    expect(await of.ended(next)).toMatchObject({ status: 'completed' });
    expect(await lines(of, contextId)).toEqual(
      mode === 'rollback'
        ? ['u1 user: second', 'a1 assistant: again']
        : ['u1 user: first', 'u2 user: second', 'a2 assistant: again'],
    );
    await expectAtRest(of, contextId);
  });

  test('in the middle of tools retracts the answer and still reports the calls that had begun', async () => {
    const begun = gate();
    let calls = 0;
    const of = await start({
      model: () => {
        calls += 1;
        return calls === 1
          ? says('', { name: 'quick', input: {} }, { name: 'charge', input: { eur: 5 } })
          : says('done');
      },
      tools: {
        quick: { execute: () => result('q') },
        charge: {
          effect: 'once',
          execute: async (_, signal) => {
            begun.open();
            await aborted(signal);
            return { kind: 'aborted' };
          },
        },
      },
    });
    const { contextId } = await of.createContext();
    const { jobId } = await of.post(contextId, 'pay');
    await begun.opened;
    await of.interrupt(contextId, 'discard');
    await of.ended(jobId);
    const { removed, effects } = await receiptOf(of, contextId, jobId);
    expect(effects.map(({ name }) => name).sort()).toEqual(['charge', 'quick']);
    expect(effects.find(({ name }) => name === 'charge')).toMatchObject({ status: 'unknown' });
    expect(removed.length).toBeGreaterThanOrEqual(1);
    const [input, note, ...more] = await lines(of, contextId);
    expect(input).toBe('u1 user: pay');
    expect(note).toMatch(/^a1 system: .*charge\(\{"eur":5\}\)/);
    expect(more).toEqual([]);
    const { jobId: retried } = await of.retry(contextId);
    expect(await of.ended(retried)).toMatchObject({ status: 'completed' });
    await expectAtRest(of, contextId);
  });

  test('of a job that waits for its retry needs no process', async () => {
    const of = await start({
      model: () => fails({ class: 'rate_limited', message: 'slow', retryAfterMs: 60_000 }),
    });
    const { contextId } = await of.createContext();
    const { jobId } = await of.post(contextId, 'hi');
    await of.until(async () => (await of.job(jobId))['status'] === 'waiting');
    await Promise.all(of.processes.map((process) => process.drain()));
    await of.interrupt(contextId, 'rollback');
    expect(await of.job(jobId)).toMatchObject({ status: 'interrupted' });
    expect(await lines(of, contextId)).toEqual([]);
    await expectAtRest(of, contextId);
  });

  test('of a job that has not begun: it begins, ends, and its input stays', async () => {
    const of = await start({ model: () => says('never'), processes: 0 });
    const { contextId } = await of.createContext();
    const { jobId } = await of.post(contextId, 'hi');
    expect(await of.interrupt(contextId, 'discard')).toBe(jobId);
    expect(await of.job(jobId)).toMatchObject({ status: 'interrupted' });
    expect(await lines(of, contextId)).toEqual(['u1 user: hi']);
    await expectAtRest(of, contextId);
  });

  test('of an idle context interrupts no job', async () => {
    const of = await start({ model: () => says('hello') });
    const { contextId } = await of.createContext();
    expect(await of.interrupt(contextId, 'discard')).toBeNull();
    const { jobId } = await of.post(contextId, 'hi');
    await of.ended(jobId);
    expect(await of.interrupt(contextId, 'discard')).toBeNull();
    expect(await lines(of, contextId)).toEqual(['u1 user: hi', 'a1 assistant: hello']);
  });

  test('twice at once, and with a cancel: the first one counts, and the job ends once', async () => {
    const called = gate();
    const of = await start({
      model: async (_, signal) => {
        called.open();
        await aborted(signal);
        return { kind: 'aborted' };
      },
    });
    const { contextId } = await of.createContext();
    const { jobId } = await of.post(contextId, 'hi');
    await called.opened;
    await Promise.all([of.interrupt(contextId, 'keep'), of.interrupt(contextId, 'rollback'), of.cancel(jobId)]);
    const job = await of.ended(jobId);
    expect(['interrupted', 'cancelled']).toContain(job['status']);
    expect(job['status'] === 'cancelled').toBe(job['stop_kind'] === 'cancel');
    expect(await lines(of, contextId)).toEqual(job['stop_mode'] === 'rollback' ? [] : ['u1 user: hi']);
    const received = await of.query(`select 1 from events where name = 'JobFinished'`);
    expect(received).toHaveLength(1);
    await expectAtRest(of, contextId);
  });

  test('that arrives before the final append retracts an answer that was ready', async () => {
    const of: Fleet = await start({
      model: async () => {
        await of.interrupt(contextId, 'discard');
        return says('too late');
      },
    });
    const { contextId } = await of.createContext();
    const { jobId } = await of.post(contextId, 'hi');
    expect(await of.ended(jobId)).toMatchObject({ status: 'interrupted' });
    expect(await lines(of, contextId)).toEqual(['u1 user: hi']);
    await expectAtRest(of, contextId);
  });

  test('whose lease owner does not answer is executed without it', async () => {
    const called = gate();
    const of = await start({
      processes: 2,
      times: { stopGraceMs: 300 },
      model: async () => {
        called.open();
        return new Promise(() => undefined);
      },
    });
    const { contextId } = await of.createContext();
    const { jobId } = await of.post(contextId, 'hi');
    await called.opened;
    const firstInput = async () =>
      (await of.query(`select first_input from workers where context_id = '${contextId}'`))[0]?.['first_input'];
    await of.query(`update workers set first_input = 'hi' where context_id = '${contextId}'`);
    await of.interrupt(contextId, 'rollback');
    expect(await of.ended(jobId)).toMatchObject({ status: 'interrupted' });
    expect(await lines(of, contextId)).toEqual([]);
    expect(await firstInput()).toBeNull();
  });

  test('lets the next queued input run; a stop does not', async () => {
    const called = gate();
    const of = await start({
      model: async ({ messages }, signal) => {
        if (JSON.stringify(messages.at(-1)).includes('wait')) {
          called.open();
          await aborted(signal);
          return { kind: 'aborted' };
        }
        return says('heard');
      },
    });
    const { contextId, workerId } = await of.createContext();
    await of.post(contextId, 'wait');
    const { jobId: second } = await of.post(contextId, 'second');
    await called.opened;
    await of.interrupt(contextId, 'rollback');
    expect(await of.ended(second)).toMatchObject({ status: 'completed' });
    await of.perform(stopWorker(of.ports, { tenantId: DEFAULT_TENANT, contextId }, { by: null }));
    expect(workerId).not.toBeNull();
    expect(await lines(of, contextId)).toEqual(['u1 user: second', 'a1 assistant: heard']);
  });
});

describe('an input that interrupts', () => {
  test('replaces the running job, ahead of the queue, in order with other such inputs', async () => {
    const called = gate();
    let calls = 0;
    const of = await start({
      model: async (_, signal) => {
        calls += 1;
        if (calls > 1) return says('ok');
        called.open();
        await aborted(signal);
        return { kind: 'aborted' };
      },
    });
    const { contextId } = await of.createContext();
    const { jobId: first } = await of.post(contextId, 'first');
    const { jobId: queued } = await of.post(contextId, 'queued');
    await called.opened;
    const { jobId: now } = await of.post(contextId, 'now', { delivery: 'interrupt' });
    expect(await of.ended(first)).toMatchObject({ status: 'interrupted', stop_mode: 'discard' });
    await Promise.all([of.ended(now), of.ended(queued)]);
    const inputs = (await lines(of, contextId)).filter((line) => line.includes(' user: '));
    expect(inputs).toEqual(['u1 user: first', 'u2 user: now', 'u3 user: queued']);
    await expectAtRest(of, contextId);
  });

  test('in an idle context is the next', async () => {
    const of = await start({ model: () => says('ok'), processes: 0 });
    const { contextId } = await of.createContext();
    await of.post(contextId, 'a');
    await of.post(contextId, 'b', { delivery: 'interrupt' });
    await of.post(contextId, 'c', { delivery: 'interrupt' });
    await of.startProcess();
    await expectAtRest(of, contextId);
    const inputs = (await lines(of, contextId)).filter((line) => line.includes(' user: '));
    expect(inputs).toEqual(['u1 user: b', 'u2 user: c', 'u3 user: a']);
  });
});

/** An input of which no two are read at once. */
const long = (name: string) => `${name} ${'x'.repeat(LIMITS.joiningBytes - 1_000)}`;

/** The first letter of each text of the last message. */
function letters(messages: readonly PromptMessage[]): string {
  const blocks = messages.at(-1)?.content ?? [];
  return blocks.map((block) => (block.type === 'text' ? block.text.slice(0, 1) : '?')).join('');
}

describe('an input that steers', () => {
  test('in the middle of an answer joins the job, which answers both', async () => {
    const called = gate();
    const release = gate();
    let calls = 0;
    const of = await start({
      model: async () => {
        calls += 1;
        if (calls === 1) {
          called.open();
          await release.opened;
        }
        return says(`answer ${calls}`);
      },
    });
    const { contextId } = await of.createContext();
    const { jobId } = await of.post(contextId, 'first');
    await called.opened;
    const steered = await of.post(contextId, 'and this', { delivery: 'steer' });
    expect(steered.jobId).toBe(jobId);
    release.open();
    expect(await of.ended(jobId)).toMatchObject({ status: 'completed', steps: 2 });
    expect(await lines(of, contextId)).toEqual([
      'u1 user: first',
      'a1 assistant: answer 1',
      'u2 user: and this',
      'a2 assistant: answer 2',
    ]);
    const [message] = await of.query(`select id, status from messages where id = '${steered.messageId}'`);
    expect(message).toMatchObject({ status: 'completed' });
    await expectAtRest(of, contextId);
  });

  test('joins after those before it, where they are too long to be read at once', async () => {
    const called = gate();
    const release = gate();
    const asked: string[] = [];
    const of = await start({
      settings: () => ({ contextLimit: 100_000_000 }),
      model: async ({ messages }) => {
        asked.push(letters(messages));
        if (asked.length === 1) {
          called.open();
          await release.opened;
        }
        return says('answer');
      },
    });
    const { contextId } = await of.createContext();
    const { jobId } = await of.post(contextId, 'first');
    await called.opened;
    for (const name of ['a', 'b', 'c']) await of.post(contextId, long(name), { delivery: 'steer' });
    release.open();
    expect(await of.ended(jobId)).toMatchObject({ status: 'completed', steps: 2 });
    expect(asked).toEqual(['f', 'abc']);
    const turns = (await of.history(contextId)).map(({ turn }) => turn);
    expect(turns).toEqual(['u1', 'a1', 'u2', 'u3', 'u4', 'a4']);
    await expectAtRest(of, contextId);
  });

  test.each(['cancel', 'rollback', 'keep'] as const)('that is not read yet is kept with the job: %s', async (how) => {
    const called = gate();
    const asked: string[] = [];
    const of = await start({
      settings: () => ({ contextLimit: 100_000_000 }),
      model: async ({ messages }, signal) => {
        asked.push(letters(messages));
        if (asked.length > 1) return says('answer');
        called.open();
        await aborted(signal);
        return { kind: 'aborted' };
      },
    });
    const { contextId } = await of.createContext();
    const { jobId } = await of.post(contextId, 'first');
    await called.opened;
    for (const name of ['a', 'b']) await of.post(contextId, long(name), { delivery: 'steer' });
    if (how === 'cancel') await of.cancel(jobId);
    else await of.interrupt(contextId, how);
    await of.ended(jobId);
    const next = await of.post(contextId, 'next');
    expect(await of.ended(next.jobId)).toMatchObject({ status: 'completed' });
    expect(asked).toEqual(['f', how === 'rollback' ? 'n' : 'fabn']);
    await expectAtRest(of, contextId);
  });

  test('in the middle of a tool waits for its result', async () => {
    const begun = gate();
    const release = gate();
    let calls = 0;
    const of = await start({
      model: () => {
        calls += 1;
        return calls === 1 ? says('', { name: 'slow', input: {} }) : says('done');
      },
      tools: {
        slow: {
          execute: async () => {
            begun.open();
            await release.opened;
            return result('slow');
          },
        },
      },
    });
    const { contextId } = await of.createContext();
    const { jobId } = await of.post(contextId, 'go');
    await begun.opened;
    await of.post(contextId, 'hurry', { delivery: 'steer' });
    release.open();
    await of.ended(jobId);
    expect(await lines(of, contextId)).toEqual([
      'u1 user: go',
      'a1 assistant: →slow',
      'a1 tool: ←slow',
      'u2 user: hurry',
      'a2 assistant: done',
    ]);
    await expectAtRest(of, contextId);
  });

  test('in an idle context, or during a job with a stop request, is a job of its own', async () => {
    const called = gate();
    const of = await start({
      model: async ({ messages }, signal) => {
        if (!JSON.stringify(messages.at(-1)).includes('wait')) return says('ok');
        called.open();
        await aborted(signal);
        return { kind: 'aborted' };
      },
    });
    const { contextId } = await of.createContext();
    const alone = await of.post(contextId, 'alone', { delivery: 'steer' });
    expect(await of.ended(alone.jobId)).toMatchObject({ status: 'completed' });
    const { jobId } = await of.post(contextId, 'wait');
    await called.opened;
    await of.interrupt(contextId, 'rollback');
    const late = await of.post(contextId, 'late', { delivery: 'steer' });
    expect(late.jobId).not.toBe(jobId);
    expect(await of.ended(late.jobId)).toMatchObject({ status: 'completed' });
    await expectAtRest(of, contextId);
  });

  test('is not lost with a job that is cancelled before it read it', async () => {
    const called = gate();
    const of = await start({
      model: async (_, signal) => {
        called.open();
        await aborted(signal);
        return { kind: 'aborted' };
      },
    });
    const { contextId } = await of.createContext();
    const { jobId } = await of.post(contextId, 'first');
    await called.opened;
    await of.post(contextId, 'second', { delivery: 'steer' });
    await of.cancel(jobId);
    await of.ended(jobId);
    expect(await lines(of, contextId)).toEqual(['u1 user: first', 'u2 user: second']);
    await expectAtRest(of, contextId);
  });
});

describe('a queued input', () => {
  test('runs by priority, then in the order of arrival', async () => {
    const of = await start({ model: () => says('ok'), processes: 0 });
    const { contextId } = await of.createContext();
    await of.post(contextId, 'late', { priority: 10 });
    await of.post(contextId, 'normal');
    await of.post(contextId, 'urgent', { priority: 1 });
    await of.post(contextId, 'normal too');
    await of.startProcess();
    await expectAtRest(of, contextId);
    const inputs = (await lines(of, contextId)).filter((line) => line.includes(' user: '));
    expect(inputs).toEqual(['u1 user: urgent', 'u2 user: normal', 'u3 user: normal too', 'u4 user: late']);
  });

  test('is edited, moved and withdrawn until it is history', async () => {
    const of = await start({ model: () => says('ok'), processes: 0 });
    const { contextId } = await of.createContext();
    const posted: Accepted[] = [];
    for (const text of ['a', 'b', 'c', 'd']) posted.push(await of.post(contextId, text));
    const target = (place: number) => {
      const messageId = posted[place]?.messageId;
      if (messageId === undefined || messageId === null) throw new Error('no such input');
      return { tenantId: DEFAULT_TENANT, contextId, messageId };
    };
    await of.perform(
      changeInput(target(3), { content: [{ type: 'text', text: 'D' }], place: 1, by: null, reserve: () => null }),
    );
    await of.perform(changeInput(target(0), { content: null, place: 99, by: null, reserve: () => null }));
    await of.perform(withdrawInput(of.ports, target(1)));
    await of.startProcess();
    await expectAtRest(of, contextId);
    const inputs = (await lines(of, contextId)).filter((line) => line.includes(' user: '));
    expect(inputs).toEqual(['u1 user: D', 'u2 user: c', 'u3 user: a']);
    expect(await of.job(posted[1]?.jobId ?? ('' as JobId))).toMatchObject({ status: 'cancelled' });
    await expect(
      of.perform(changeInput(target(0), { content: null, place: 1, by: null, reserve: () => null })),
    ).rejects.toThrow('not_queued');
    await expect(of.perform(withdrawInput(of.ports, target(1)))).rejects.toThrow('not_found');
  });

  test('that is to join a job is edited and withdrawn too, but has no place in the queue', async () => {
    const called = gate();
    const release = gate();
    const of = await start({
      model: async () => {
        called.open();
        await release.opened;
        return says('ok');
      },
    });
    const { contextId } = await of.createContext();
    const { jobId } = await of.post(contextId, 'first');
    await called.opened;
    const one = await of.post(contextId, 'one', { delivery: 'steer' });
    const two = await of.post(contextId, 'two', { delivery: 'steer' });
    const target = (messageId: typeof one.messageId) => {
      if (messageId === null) throw new Error('no message');
      return { tenantId: DEFAULT_TENANT, contextId, messageId };
    };
    await of.perform(
      changeInput(target(one.messageId), {
        content: [{ type: 'text', text: 'ONE' }],
        place: null,
        by: null,
        reserve: () => null,
      }),
    );
    await of.perform(withdrawInput(of.ports, target(two.messageId)));
    await expect(
      of.perform(changeInput(target(one.messageId), { content: null, place: 1, by: null, reserve: () => null })),
    ).rejects.toThrow('no position in the queue');
    release.open();
    await of.ended(jobId);
    expect(await lines(of, contextId)).toEqual([
      'u1 user: first',
      'a1 assistant: ok',
      'u2 user: ONE',
      'a2 assistant: ok',
    ]);
    await expectAtRest(of, contextId);
  });
});
