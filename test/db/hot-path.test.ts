// The cost of a job in Postgres: every transaction, and every statement of it, from the input to the end of the job.
import { afterEach, expect, inject, test } from 'vitest';
import { forkContext } from '../../src/commands/contexts/fork-context.ts';
import { submitInput } from '../../src/commands/inputs/submit-input.ts';
import { perform, type AnyCommand } from '../../src/commands/perform.ts';
import { createWorker } from '../../src/commands/workers/create-worker.ts';
import { DEFAULT_TENANT } from '../../src/core/ids.ts';
import { openDatabase } from '../../src/db/connection/client.ts';
import { isWrite, tagOf } from '../services/statements.ts';
import { says, result, startFleet, type Fleet } from '../workers/worker-fleet.ts';
import { firstInput, postedInput } from './inputs.ts';

let fleet: Fleet | null = null;
afterEach(async () => {
  await fleet?.close();
  fleet = null;
});

/** Housekeeping, not the job's; and the tool descriptions for models, which are stored once for each list. */
const BESIDE = [
  'processes.heartbeat',
  'processes.take_lock',
  'processes.record_metrics',
  'processes.declare_dead',
  'processes.next_death',
  'search.index_backlog',
  'schedules.find_due',
  'jobs.find_due',
  'submissions.find_due',
  'webhooks.find_work',
  'contexts.take_due',
  'contexts.read_runnable',
  'contexts.wake_missed',
  'contexts.revoke',
  'contexts.list_owned',
  'follow_ups.find_cascades',
  'follow_ups.find_parent_notices',
  'tool_lists.keep',
];

/** A process registers by a statement that drizzle builds: it has no tag. */
const REGISTERS = /^insert into "processes"/;

/** The job's transactions: each a single statement, or the statements between `begin` and `commit`. */
function transactionsOf(statements: readonly string[]): string[][] {
  const transactions: string[][] = [];
  let open: string[] | null = null;
  for (const text of statements) {
    if (text === 'begin') open = [];
    else if (text === 'commit' && open !== null) {
      transactions.push(open);
      open = null;
    } else if (open !== null) open.push(text);
    else transactions.push([text]);
  }
  return transactions;
}

/** Wake-ups arrive, so sweeps have nothing to do: a sweep that came first would claim in a statement of its own. */
const WITH_WAKE_UPS = inject('redisUrl') === null ? {} : { sweepMs: 3_600_000, drainMs: 500 };

test('a job of three tool steps: one transaction to claim and admit, one for each answer', async () => {
  const sent: string[] = [];
  const untagged: string[] = [];
  let isRecording = false;
  let steps = 0;
  fleet = await startFleet({
    model: () => ((steps += 1) <= 3 ? says('', { name: 'look', input: {} }) : says('done')),
    tools: { look: { execute: () => result('seen') } },
    times: WITH_WAKE_UPS,
    hook: (text) => {
      if (isWrite(text) && tagOf(text) === null && !REGISTERS.test(text)) untagged.push(text);
      if (isRecording && !BESIDE.includes(tagOf(text) ?? '') && !REGISTERS.test(text)) sent.push(text);
    },
  });
  const of = fleet;
  const { contextId } = await of.createContext();
  isRecording = true;
  const { jobId } = await of.post(contextId, 'go');
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed', steps: 4 });
  await of.until(async () => (await of.query(`select 1 from contexts where scheduling_status <> 'idle'`)).length === 0);
  await new Promise((resolve) => setTimeout(resolve, 100));
  isRecording = false;
  expect(untagged).toEqual([]);
  const transactions = transactionsOf(sent);
  // The claim, the read of the mailbox (in the same round trip), and the append. A new context has no history to read.
  expect(transactions.map((statements) => statements.length)).toEqual([3, 1, 1, 1, 1]);
  expect(tagOf(transactions[0]?.[0] ?? '')).toBe('contexts.claim_many');
  for (const statements of transactions) expect(tagOf(statements.at(-1) ?? '')).toBe('contexts.append');
  // Three statement texts, to begin, to continue, to end, each with no more than it needs.
  const texts = new Set(transactions.map((statements) => statements.at(-1)));
  expect(texts.size).toBe(3);
  for (const text of texts) expect(text).not.toMatch(/insert into (compactions|failed_calls|awaited_jobs)|'retracted'/);
});

test('the claim of a context with a history reads it, also if the context is a new fork', async () => {
  const sent: string[] = [];
  let isRecording = false;
  fleet = await startFleet({
    model: () => says('ok'),
    times: WITH_WAKE_UPS,
    hook: (text) => {
      if (isRecording && !BESIDE.includes(tagOf(text) ?? '') && !REGISTERS.test(text)) sent.push(text);
    },
  });
  const of = fleet;
  const { contextId } = await of.createContext();
  await of.ended((await of.post(contextId, 'one')).jobId);
  await of.until(async () => (await of.query(`select 1 from contexts where scheduling_status <> 'idle'`)).length === 0);
  const source = { tenantId: DEFAULT_TENANT, contextId, fromMessageId: null, title: null };
  const fork = await of.perform(forkContext(of.ports, source));
  for (const one of [contextId, fork.contextId]) {
    sent.length = 0;
    isRecording = true;
    await of.ended((await of.post(one, 'two')).jobId);
    isRecording = false;
    expect(transactionsOf(sent).map((statements) => statements.map(tagOf))).toEqual([
      ['contexts.claim_many', 'mailbox.read', 'history.read', 'contexts.append'],
      ['contexts.append'],
    ]);
  }
});

test('a `once` call costs one transaction more: its mark', async () => {
  const sent: string[] = [];
  let steps = 0;
  fleet = await startFleet({
    model: () => ((steps += 1) <= 1 ? says('', { name: 'mail', input: {} }) : says('done')),
    tools: { mail: { effect: 'once', execute: () => result('sent') } },
    hook: (text) => {
      if (tagOf(text) === 'contexts.append') sent.push(text);
    },
  });
  const of = fleet;
  const { contextId } = await of.createContext();
  const { jobId } = await of.post(contextId, 'go');
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  expect(sent).toHaveLength(1 + 3 + 1);
});

test('the tool descriptions for a model are stored once for each list, however many calls use it', async () => {
  const sent: string[] = [];
  let steps = 0;
  fleet = await startFleet({
    model: () => ((steps += 1) % 3 === 0 ? says('done') : says('', { name: 'look', input: {} })),
    tools: { look: { execute: () => result('seen') } },
    hook: (text) => {
      if (tagOf(text) === 'tool_lists.keep') sent.push(text);
    },
  });
  const of = fleet;
  for (let contexts = 0; contexts < 2; contexts += 1) {
    const { contextId } = await of.createContext();
    for (let jobs = 0; jobs < 2; jobs += 1) {
      const { jobId } = await of.post(contextId, 'go');
      expect(await of.ended(jobId)).toMatchObject({ status: 'completed', steps: 3 });
    }
  }
  expect(sent).toHaveLength(1);
  expect(await of.query(`select tenant_id, tools from tool_lists`)).toEqual([
    { tenant_id: 1, tools: [{ name: 'look', description: '', input_schema: { type: 'object' } }] },
  ]);
});

test('a submit is one statement, and so is a new worker with its first input, or without one', async () => {
  const sent: string[] = [];
  fleet = await startFleet({ model: () => says('ok'), processes: 0 });
  const { ports } = fleet;
  const { contextId } = await fleet.createContext();
  const counted = openDatabase(fleet.url, { max: 1, hook: (text) => void sent.push(text) });
  const done = async (command: AnyCommand<unknown>): Promise<void> => {
    expect(await perform({ ...ports, database: counted }, command)).toMatchObject({ kind: 'done' });
  };
  const worker = {
    tenantId: DEFAULT_TENANT,
    user: null,
    name: 'w',
    title: null,
    role: null,
    config: {},
    parentWorkerId: null,
  };
  await done(submitInput(ports, { ...postedInput(), contextId }));
  await done(createWorker(ports, worker, firstInput('go')));
  await done(createWorker(ports, worker));
  expect(sent.map(tagOf)).toEqual(['jobs.submit_many', 'workers.create', 'workers.create']);
  // With and without an input it is the same text, which is prepared once.
  expect(sent[2]).toBe(sent[1]);
  await counted.close();
});
