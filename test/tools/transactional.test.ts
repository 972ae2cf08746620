// The definition of a transactional tool, and what the test kit runs of it.
import { expect, test } from 'vitest';
import { z } from 'zod';
import { TransactionRefused, type CallTransaction } from '../../src/core/tools/transaction.ts';
import { ToolError, defineConfig, defineTool, type ToolDefinition, type ToolTransaction } from '../../src/index.ts';
import { runRole, runTool } from '../../src/testing/index.ts';
import { parseConfigFile } from '../../src/tools/config/parse-config.ts';
import { PLACEHOLDERS } from '../../src/tools/packages/secrets.ts';
import { NO_SERVICES, call, runnerOf } from './invoke.ts';

const book = defineTool({
  name: 'book',
  description: 'Books a room.',
  transactional: true,
  input: z.object({ room: z.string(), nights: z.int().default(1) }),
  async execute({ room, nights }, { tx, tool_call_id }) {
    const { rows } = await tx.query<{ id: number }>(
      'insert into bookings (room, nights, call) values ($1, $2, $3) returning id',
      [room, nights, tool_call_id],
    );
    if (room === 'full') throw new ToolError('It is full.', { code: 'full' });
    return { booking: rows[0]?.id ?? 0 };
  },
});

/** Records the statements, and answers each with one row. */
function recording(): { tx: ToolTransaction; sent: unknown[] } {
  const sent: unknown[] = [];
  function query<Row extends object>(text: string, parameters?: readonly unknown[]): Promise<{ rows: Row[] }>;
  async function query(text: string, parameters: readonly unknown[] = []): Promise<{ rows: unknown[] }> {
    sent.push([text.slice(0, 6), ...parameters.slice(0, 2)]);
    return { rows: [{ id: 7 }] };
  }
  return { tx: { query, values: async () => ({ rows: [] }) }, sent };
}

test('the types of the context are those of a transaction', () => {
  const config = defineConfig({
    tools: [
      book,
      {
        name: 'inline',
        description: 'd',
        transactional: true,
        input_schema: { type: 'object', properties: { room: { type: 'string' } }, required: ['room'] },
        execute: ({ room }, { tx }) => tx.query('select $1', [room.toUpperCase()]),
      },
      {
        name: 'plain',
        description: 'd',
        effect: 'none',
        input: z.object({ a: z.string() }),
        execute: ({ a }, { step }) => step(a, () => a),
      },
    ],
  });
  expect(config.tools).toHaveLength(3);
  defineTool({
    name: 'wrong',
    description: 'd',
    transactional: true,
    input_schema: { type: 'object' },
    // @ts-expect-error a step would be stored outside of the transaction
    execute: (_, { step }) => typeof step,
  });
  // @ts-expect-error the effect of a transactional tool is known
  defineTool({ name: 'w', description: 'd', transactional: true, effect: 'once', input_schema: {}, execute: () => 1 });
  // @ts-expect-error any other tool declares its effect
  defineTool({ name: 'w', description: 'd', input_schema: { type: 'object' }, execute: () => 1 });
});

test.each<[object, string]>([
  [{ effect: 'once' }, 'tools[0].effect: is not for transactional tools, which happen once.'],
  [{ on_unknown: 'ask' }, 'tools[0].on_unknown: is not for transactional tools, which happen once.'],
  [{ reconcile: () => ({}) }, 'tools[0].reconcile: is not for transactional tools, which happen once.'],
  [
    { transactional: false },
    'tools[0].effect: is missing: write none, idempotent or once, or transactional: true in its place.',
  ],
  [{ transactional: 'yes' }, 'tools[0].transactional: must be true or false, not "yes".'],
])('a config file is refused: %o', (over, fault) => {
  const parsed = parseConfigFile({ tools: [{ ...book, ...over }] }, PLACEHOLDERS);
  expect(parsed.ok ? [] : parsed.faults).toContain(fault);
});

test('runTool gives the transaction of the test, and refuses without one', async () => {
  const { tx, sent } = recording();
  expect(await runTool(book, { room: 'A' }, { tx })).toMatchObject({ content: '{"booking":7}', error: null });
  expect(sent).toEqual([['insert', 'A', 1]]);
  expect(await runTool(book, { room: 'full' }, { tx })).toMatchObject({
    error: '{"error":{"code":"full","message":"It is full."}}',
  });
  await expect(runTool(book, { room: 'A' })).rejects.toMatchObject({
    code: 'unavailable',
    message: 'The tool book is transactional. Give it a transaction: runTool(tool, input, { tx }).',
  });
});

test('runRole gives it to every transactional tool; without one the call fails and says what to give', async () => {
  const config = { tools: [book], roles: { desk: { tools: ['book'], model: 'simulated/test' } } };
  const input = 'call: book {"room": "A"}\n---\nsay: done';
  const { tx, sent } = recording();
  expect((await runRole(config, { role: 'desk', input, tx })).calls).toMatchObject([
    { tool: 'book', status: 'completed', result: '{"booking":7}' },
  ]);
  expect(sent).toEqual([['insert', 'A', 1]]);
  const [failed] = (await runRole(config, { role: 'desk', input })).calls;
  expect(failed).toMatchObject({ status: 'failed', result: expect.stringContaining('(the option tx)') });
  const standIns = { book: () => 'in its place' };
  expect((await runRole(config, { role: 'desk', input, standIns })).calls).toMatchObject([{ result: 'in its place' }]);
});

const { tx: NO_ROWS } = recording();

const running = (transaction: CallTransaction, signal: AbortSignal, tools: ToolDefinition[] = [book], limit = 60_000) =>
  runnerOf(tools, { limits: { toolResult: 1_000, toolTimeoutMs: limit } }).execute(
    call('book', { room: 'A' }),
    signal,
    {
      ...NO_SERVICES,
      transaction,
    },
  );

test('a call that is aborted ends when its transaction has ended: its result counts if that has committed', async () => {
  const committing = Promise.withResolvers<void>();
  const committed = Promise.withResolvers<void>();
  const abort = new AbortController();
  const outcome = running(
    {
      async run(work) {
        const result = await work(NO_ROWS);
        committing.resolve();
        await committed.promise;
        return result;
      },
    },
    abort.signal,
  );
  await committing.promise;
  abort.abort();
  const early = Promise.race([outcome, new Promise((resolve) => setImmediate(() => resolve('waits')))]);
  expect(await early).toBe('waits');
  committed.resolve();
  expect(await outcome).toEqual({ kind: 'result', content: '{"booking":7}', is_error: false, settled: true });
});

test('a call that is aborted, or takes too long, ends so if its transaction was rolled back', async () => {
  const untilAborted: CallTransaction = {
    run: (_, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve(null), { once: true });
      }),
  };
  const abort = new AbortController();
  const outcome = running(untilAborted, abort.signal);
  setImmediate(() => abort.abort());
  expect(await outcome).toEqual({ kind: 'aborted' });
  expect(await running(untilAborted, new AbortController().signal, [book], 10)).toMatchObject({
    kind: 'result',
    content: 'The tool book timed out after 0.01 s.',
    is_error: true,
  });
});

test('why a transaction was refused is for the model', async () => {
  const refusing: CallTransaction = {
    run: async () => {
      throw new TransactionRefused('not_granted', 'Grant it.');
    },
  };
  expect(await running(refusing, new AbortController().signal)).toMatchObject({
    content: '{"error":{"code":"not_granted","message":"Grant it."}}',
    is_error: true,
  });
});
