// Compactions over a real database: the request to the provider, the read of a claim, and the stored history.
import { afterEach, describe, expect, test } from 'vitest';
import { compactContext } from '../../../src/commands/contexts/compact-context.ts';
import { COMPACTION_DEFAULTS, type AskedCompaction } from '../../../src/core/compaction/settings.ts';
import type { CompactorType } from '../../../src/core/compaction/type.ts';
import { SUMMARISER } from '../../../src/core/compaction/summary.ts';
import { DEFAULT_TENANT, type ContextId, type JobId } from '../../../src/core/ids.ts';
import { INTERRUPT_MODES } from '../../../src/core/run/job.ts';
import type { ModelOutcome, ModelRequest } from '../../../src/core/model/model.ts';
import type { Settings } from '../../../src/core/workers/settings.ts';
import { listSteps } from '../../../src/db/read/jobs/step-views.ts';
import { depth } from '../../services/depth.ts';
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

const SEEN = 'seen '.repeat(400);

const setTo = (type: CompactorType, keepTurns = 1, contextLimit = 3_000): Partial<Settings> => ({
  contextLimit,
  compaction: { ...COMPACTION_DEFAULTS, type, keepTurns },
});

/** As a provider counts: a quarter of the characters. */
function counted(request: ModelRequest, outcome: ModelOutcome): ModelOutcome {
  if (outcome.kind !== 'done') return outcome;
  const input_tokens = Math.ceil(JSON.stringify([request.system, request.pinned, request.messages]).length / 4);
  const usage = { ...outcome.answer.usage, input_tokens };
  return { kind: 'done', answer: { ...outcome.answer, usage } };
}

const isSummary = ({ system }: ModelRequest) => system === SUMMARISER;

/** Calls the tool once for each input, then answers it. */
function looks(request: ModelRequest): ModelOutcome {
  if (isSummary(request)) return counted(request, says('They looked; all is well.'));
  const isAnswered = request.messages.at(-1)?.content.some(({ type }) => type === 'tool_result') === true;
  return counted(request, isAnswered ? says('done') : says('', { name: 'look', input: {} }));
}

const tools = { look: { execute: () => result(SEEN) } };

async function compact(of: Fleet, contextId: ContextId, asked: AskedCompaction) {
  const command = compactContext(of.ports, { tenantId: DEFAULT_TENANT, contextId, asked, queueLimit: 100 });
  const { jobId } = await of.perform(command);
  return of.ended(jobId);
}

async function converse(of: Fleet, contextId: ContextId, ...inputs: string[]): Promise<void> {
  for (const input of inputs) {
    const { jobId } = await of.post(contextId, input);
    expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  }
}

const compactions = (of: Fleet) => of.query(`select * from compactions order by seq`);
const sent = (request: ModelRequest | undefined) => JSON.stringify(request?.messages ?? []);

describe('before the prompt is too long', () => {
  test('old results are shortened, and their text stays stored and visible', async () => {
    const requests: ModelRequest[] = [];
    const of = await start({
      tools,
      settings: () => setTo('threshold'),
      model: (request) => {
        requests.push(request);
        return looks(request);
      },
    });
    const { contextId } = await of.createContext();
    await converse(of, contextId, 'one', 'two', 'three', 'four', 'five', 'six');
    const [first] = await compactions(of);
    expect(first).toMatchObject({ type: 'threshold', branch: 'main', summary: null });
    expect(Number(first?.['tokens_after'])).toBeLessThan(Number(first?.['tokens_before']));
    expect(sent(requests.at(-1))).toContain('An old result, shortened');
    expect(transcript(await of.history(contextId)).filter((line) => line.endsWith(`←${SEEN}`))).toHaveLength(6);
    const events = await of.query(`select seq, data from events where name = 'ContextCompacted' order by seq`);
    expect(events.map(({ seq }) => seq)).toEqual((await compactions(of)).map(({ seq }) => seq));
    expect(events[0]?.['data']).toMatchObject({
      type: 'threshold',
      upto_seq: first?.['upto_seq'],
      model: null,
    });
  });

  test('old turns are summarised; the next claim reads from there on, and turn numbers continue', async () => {
    const requests: ModelRequest[] = [];
    const of = await start({
      tools,
      settings: () => setTo('llm'),
      model: (request) => {
        requests.push(request);
        return looks(request);
      },
    });
    const { contextId } = await of.createContext();
    await converse(of, contextId, 'one', 'two', 'three', 'four', 'five', 'six');
    const stored = await compactions(of);
    const last = stored.at(-1);
    expect(last).toMatchObject({
      type: 'llm',
      summary: 'They looked; all is well.',
      model: 'simulated/scripted',
    });
    const answers = requests.filter((request) => !isSummary(request));
    const prompt = answers.at(-1)?.messages ?? [];
    expect(JSON.stringify(prompt[0]?.content[0])).toMatch(/<system-note>.*They looked; all is well\./);
    expect(sent(answers.at(-1))).not.toContain('"one"');
    const history = await of.history(contextId);
    expect(history).toHaveLength(24);
    expect(history.at(-1)?.turn).toBe('a6');
    // Of the summarised messages, a claim reads the last one only.
    const remembered = history.filter(({ seq }) => seq >= Number(last?.['upto_seq'])).length;
    expect(remembered).toBeLessThan(12);
    // The summary counts where it was paid for.
    const [context] = await of.query(`select * from contexts`);
    expect(context).toMatchObject({ request_count: requests.length, turn_count: 6, message_count: 24 });
    const [sums] = await of.query(
      `select sum(input_tokens)::int as jobs, (select input_tokens::int from contexts) as context from jobs`,
    );
    expect(sums?.['jobs']).toBe(sums?.['context']);
  });

  test('the timeline shows it, with the prompt before and after', async () => {
    const of = await start({ tools, settings: () => setTo('llm', 0), model: looks });
    const { contextId } = await of.createContext();
    let last: JobId | null = null;
    for (const input of ['one', 'two', 'three', 'four', 'five', 'six']) {
      const { jobId } = await of.post(contextId, input);
      last = jobId;
      await of.ended(jobId);
      if ((await compactions(of)).length > 0) break;
    }
    const [made] = await compactions(of);
    if (last === null) throw new Error('nothing was asked');
    const timeline = await listSteps(of.database.db, DEFAULT_TENANT, last, { after: 0, limit: 50 });
    const step = timeline?.steps.find(({ kind }) => kind === 'compact');
    expect(step).toMatchObject({
      name: 'llm',
      status: 'completed',
      attempt: 1,
      tokens: { before: made?.['tokens_before'], after: made?.['tokens_after'] },
      usage: { output_tokens: 5 },
    });
    expect(timeline?.steps.map(({ startedAt }) => startedAt)).toEqual(
      timeline?.steps.map(({ startedAt }) => startedAt).toSorted((a, b) => a - b),
    );
  });
});

describe('a requested compaction', () => {
  test('succeeds, with its result; on an empty context and a second time there is nothing to do', async () => {
    const of = await start({ tools, model: looks });
    const { contextId } = await of.createContext();
    expect(await compact(of, contextId, {})).toMatchObject({ status: 'completed', kind: 'compact' });
    await converse(of, contextId, 'one', 'two', 'three');
    const asked = { type: 'llm', keep_turns: 1 } as const;
    const both = await Promise.all([compact(of, contextId, asked), compact(of, contextId, asked)]);
    expect(both).toMatchObject([{ status: 'completed' }, { status: 'completed' }]);
    expect(await compactions(of)).toHaveLength(1);
    const before = (await of.history(contextId)).length;
    await converse(of, contextId, 'four');
    const history = await of.history(contextId);
    expect(history).toHaveLength(before + 4);
    expect(history.at(-1)?.turn).toBe('a4');
    const [context] = await of.query(`select * from contexts`);
    expect(context).toMatchObject({ turn_count: 4, state: 'Idle', queued: 0 });
  });

  test('waits its turn behind inputs, and inputs behind it', async () => {
    const requests: ModelRequest[] = [];
    const of = await start({
      tools,
      model: (request) => {
        requests.push(request);
        return looks(request);
      },
    });
    const { contextId } = await of.createContext();
    await converse(of, contextId, 'one', 'two');
    const command = compactContext(of.ports, {
      tenantId: DEFAULT_TENANT,
      contextId,
      asked: { type: 'llm', keep_turns: 1 },
      queueLimit: 100,
    });
    const [first, second] = [of.post(contextId, 'three'), of.perform(command)];
    await Promise.all([first, second]);
    const { jobId } = await of.post(contextId, 'four');
    await of.ended(jobId);
    expect(await compactions(of)).toHaveLength(1);
    expect(sent(requests.at(-1))).toContain('They looked; all is well.');
    expect((await of.history(contextId)).at(-1)?.turn).toBe('a4');
  });

  test.each(INTERRUPT_MODES)(
    'is interrupted while the model writes, %s: nothing is compacted, nothing is lost',
    async (mode) => {
      const writing = Promise.withResolvers<void>();
      const of = await start({
        tools,
        model: async (request, signal) => {
          if (!isSummary(request)) return looks(request);
          writing.resolve();
          await aborted(signal);
          return { kind: 'aborted' };
        },
      });
      const { contextId } = await of.createContext();
      await converse(of, contextId, 'one', 'two');
      const asked = {
        tenantId: DEFAULT_TENANT,
        contextId,
        asked: { type: 'llm', keep_turns: 1 } as const,
        queueLimit: 9,
      };
      const { jobId } = await of.perform(compactContext(of.ports, asked));
      await writing.promise;
      expect(await of.interrupt(contextId, mode)).toBe(jobId);
      expect(await of.ended(jobId)).toMatchObject({ status: 'interrupted' });
      expect(await compactions(of)).toEqual([]);
      await converse(of, contextId, 'three');
      expect((await of.history(contextId)).map(({ turn }) => turn).at(-1)).toBe('a3');
      const [context] = await of.query(`select * from contexts`);
      expect(context).toMatchObject({ turn_count: 3, message_count: 12 });
    },
  );

  test('makes way for an input that interrupts it', async () => {
    const writing = Promise.withResolvers<void>();
    const of = await start({
      tools,
      model: async (request, signal) => {
        if (!isSummary(request)) return looks(request);
        writing.resolve();
        await aborted(signal);
        return { kind: 'aborted' };
      },
    });
    const { contextId } = await of.createContext();
    await converse(of, contextId, 'one', 'two');
    const asked = {
      tenantId: DEFAULT_TENANT,
      contextId,
      asked: { type: 'llm', keep_turns: 1 } as const,
      queueLimit: 9,
    };
    const compacting = await of.perform(compactContext(of.ports, asked));
    await writing.promise;
    const { jobId } = await of.post(contextId, 'three', { delivery: 'interrupt' });
    expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
    expect(await of.ended(compacting.jobId)).toMatchObject({ status: 'interrupted' });
    expect(await compactions(of)).toEqual([]);
  });
});

test.each(['discard', 'rollback', 'keep'] as const)(
  'an interrupt after a job had its own work summarised, %s: the summary is valid only where the work stays',
  async (mode) => {
    const requests: ModelRequest[] = [];
    const reached = Promise.withResolvers<void>();
    let rounds = 0;
    const of = await start({
      tools,
      settings: () => setTo('llm', 1, 2_000),
      model: async (request, signal) => {
        requests.push(request);
        if (isSummary(request)) return counted(request, says('They looked; all is well.'));
        if (sent(request).includes('again')) return counted(request, says('done'));
        rounds += 1;
        if (rounds <= 6) return counted(request, says(`round ${rounds}`, { name: 'look', input: {} }));
        reached.resolve();
        await aborted(signal);
        return { kind: 'aborted' };
      },
    });
    const { contextId } = await of.createContext();
    const { jobId } = await of.post(contextId, 'first');
    await reached.promise;
    expect((await compactions(of)).length).toBeGreaterThan(0);
    expect(await of.interrupt(contextId, mode)).toBe(jobId);
    expect(await of.ended(jobId)).toMatchObject({ status: 'interrupted' });
    const asked = requests.length;
    const { jobId: next } = await of.post(contextId, 'again');
    expect(await of.ended(next)).toMatchObject({ status: 'completed' });
    const prompt = sent(requests.slice(asked).findLast((request) => !isSummary(request)));
    const left = transcript(await of.history(contextId)).filter((line) => !line.includes('system:'));
    if (mode === 'keep') {
      expect(prompt).toContain('They looked; all is well.');
      expect(left).toHaveLength(15);
    } else {
      expect(prompt).not.toContain('They looked; all is well.');
      expect(left).toEqual(
        mode === 'discard'
          ? ['u1 user: first', 'u2 user: again', 'a2 assistant: done']
          : ['u1 user: again', 'a1 assistant: done'],
      );
    }
    const [context] = await of.query(`select * from contexts`);
    expect(context).toMatchObject({ message_count: (await of.history(contextId)).length });
  },
);

test('a prompt that is too long for the provider is compacted and sent again; where that does not help the job fails', async () => {
  const lengths: number[] = [];
  let most = 6_000;
  const of = await start({
    tools,
    settings: () => setTo('llm', 1, 1_000_000),
    model: (request) => {
      if (isSummary(request)) return looks(request);
      lengths.push(sent(request).length);
      return sent(request).length > most
        ? fails({ class: 'prompt_too_long', message: 'too long', retryAfterMs: null })
        : looks(request);
    },
  });
  const { contextId } = await of.createContext();
  await converse(of, contextId, 'one', 'two', 'three', 'four');
  expect((await compactions(of)).length).toBeGreaterThan(0);
  expect(lengths.some((length) => length > most)).toBe(true);
  const failed = await of.query(`select error ->> 'code' as code, retry_at from failed_calls`);
  expect(failed[0]).toEqual({ code: 'prompt_too_long', retry_at: null });
  most = 10;
  const { jobId } = await of.post(contextId, 'five');
  expect(await of.ended(jobId)).toMatchObject({ status: 'failed', error: { code: 'prompt_too_long' } });
  most = 6_000;
  await converse(of, contextId, 'six');
});

test('an empty summary is requested again', async () => {
  let asked = 0;
  const of = await start({
    tools,
    settings: () => setTo('llm'),
    model: (request) => (isSummary(request) && (asked += 1) === 1 ? says(' ') : looks(request)),
  });
  const { contextId } = await of.createContext();
  await converse(of, contextId, 'one', 'two', 'three', 'four', 'five');
  expect(asked).toBeGreaterThan(1);
  expect((await compactions(of)).length).toBeGreaterThan(0);
});

test('pinned text is in every prompt, changes with the next step, and stays through a compaction', async () => {
  const requests: ModelRequest[] = [];
  let pinned = [{ title: 'House', text: 'No shoes.' }];
  const of = await start({
    tools,
    settings: () => ({ ...setTo('llm'), pinned }),
    model: (request) => {
      requests.push(request);
      return looks(request);
    },
  });
  const { contextId } = await of.createContext();
  await converse(of, contextId, 'one', 'two', 'three', 'four', 'five');
  expect((await compactions(of)).length).toBeGreaterThan(0);
  for (const request of requests)
    expect(request.pinned).toBe(isSummary(request) ? '' : '<pinned title="House">\nNo shoes.\n</pinned>');
  pinned = [{ title: 'House', text: 'Shoes on.' }];
  await converse(of, contextId, 'six');
  expect(requests.at(-1)?.pinned).toContain('Shoes on.');
});

/**
 * Inserted by the test, inputs of 15 MB in turns of their own: over HTTP that would take a minute. One in each
 * statement: on a busy machine PostgreSQL takes longer for all of them than a statement may.
 */
async function addLong(of: Fleet, contextId: ContextId, count: number): Promise<void> {
  for (let n = 1; n <= count; n += 1)
    await of.query(`
      with ctx as (
        update contexts set head_seq = head_seq + 1 where id = '${contextId}' returning id, tenant_id, head_seq)
      insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content)
      select gen_random_uuid(), tenant_id, id, 'main', head_seq, 'user', 'text', 'u${n}', 'completed',
        json_build_array(json_build_object('type', 'text', 'text', '${n} ' || repeat('x', 15000000)))
      from ctx`);
}

/** Messages of 15 MB, so many that the transaction of a claim does not read them. */
const LONG = depth(2, 16);

// PostgreSQL ends a transaction whose process is silent for a second, which reading all of 240 MB takes.
test(`a history of ${LONG * 15} MB is read after the commit of its claim, and answered`, async () => {
  const requests: ModelRequest[] = [];
  const of = await start({
    settings: () => ({ contextLimit: 1_000_000_000 }),
    model: (request) => {
      requests.push(request);
      return says('Answered.');
    },
  });
  const { contextId } = await of.createContext();
  await addLong(of, contextId, LONG);
  const { jobId } = await of.post(contextId, 'What now?');
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed', attempt: 1 });
  expect(requests.map(({ messages }) => messages.map(({ content }) => content.length))).toEqual([[LONG + 1]]);
  const [context] = await of.query(`select lease_epoch, failed_claims from contexts where id = '${contextId}'`);
  expect(context).toEqual({ lease_epoch: 1, failed_claims: 0 });
});

// 270 MB: at full depth only.
describe.runIf(depth(false, true))('a history of more than a worker process reads at once', () => {
  test('is summarised from its beginning on, and then answered', async () => {
    const requests: ModelRequest[] = [];
    const of = await start({
      settings: () => setTo('llm', 1, 10_000),
      model: (request) => {
        requests.push(request);
        return says(isSummary(request) ? `Summary ${requests.length}.` : 'Answered.');
      },
    });
    const { contextId } = await of.createContext();
    await addLong(of, contextId, 18);
    await converse(of, contextId, 'What now?');
    const summaries = requests.filter(isSummary);
    // Each message is in exactly one request, in order: unread messages never count as summarised.
    const shown = summaries.flatMap((request) => [...sent(request).matchAll(/(\d+) x+/g)].map(([, n]) => n));
    expect(shown).toEqual(Array.from({ length: 18 }, (_, index) => String(index + 1)));
    expect(await compactions(of)).toHaveLength(summaries.length);
    expect(summaries.length).toBeGreaterThan(1);
    expect(requests).toHaveLength(summaries.length + 1);
    expect(sent(requests.at(-1))).toContain('What now?');
  });
});
