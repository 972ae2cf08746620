// How parts of many runs share a batch: each part has an answer of its own, whatever happens to the others.
import { expect, test } from 'vitest';
import { createBatcher, type Batch } from '../../src/db/batches/batcher.ts';

type Part = { context: string; text: string };
type Log = { shared: string[][]; alone: string[] };

/** A batch waits until `release`; `outcome` gives its result. */
function group(outcome: (text: string) => string | undefined | Error = (text) => text) {
  const log: Log = { shared: [], alone: [] };
  const pending: (() => void)[] = [];
  const batch: Batch<Part, string> = {
    keyOf: ({ context }) => context,
    most: 3,
    size: { of: ({ text }) => text.length, most: 20 },
    async shared(parts) {
      log.shared.push(parts.map(({ text }) => text));
      await new Promise<void>((resolve) => pending.push(resolve));
      return parts.map(({ text }) => {
        const came = outcome(text);
        if (came instanceof Error) throw came;
        return came;
      });
    },
    async alone({ text }) {
      log.alone.push(text);
      const came = outcome(text);
      if (came instanceof Error) throw came;
      return `${text} alone`;
    },
  };
  const send = createBatcher(batch);
  return {
    log,
    send: (context: string, text = context) => send({ context, text }),
    /** Lets the current batch end, and those that follow, until none is left. */
    release: async () => {
      for (let rounds = 0; rounds < 20; rounds += 1) {
        for (const resolve of pending.splice(0)) resolve();
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

test('a part that arrives while no batch is in flight is sent at once, alone', async () => {
  const { send, log, release } = group();
  void send('a');
  expect(log.shared).toEqual([['a']]);
  // A part that is left in flight is given up after a while, without a caller.
  await release();
});

test('parts that arrive while a batch is in flight share the next one, up to its limit', async () => {
  const { send, log, release } = group();
  const sent = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => send(name));
  expect(log.shared).toEqual([['a']]);
  await release();
  expect(log.shared.slice(1)).toEqual([
    ['b', 'c', 'd'],
    ['e', 'f', 'g'],
  ]);
  expect(await Promise.all(sent)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
});

test('a slow part delays no others', async () => {
  const { send, log, release } = group();
  void send('slow');
  void send('a');
  expect(log.shared).toEqual([['slow']]);
  await expect.poll(() => log.shared, { timeout: 10_000 }).toEqual([['slow'], ['a']]);
  await release();
});

test('two parts of one context never share a batch, and keep their order', async () => {
  const { send, log, release } = group();
  void send('a');
  const first = send('x', 'x1');
  const second = send('x', 'x2');
  const third = send('y', 'y1');
  await release();
  expect(log.shared.slice(1)).toEqual([['x1', 'y1'], ['x2']]);
  expect(await Promise.all([first, second, third])).toEqual(['x1', 'x2', 'y1']);
});

test('a batch holds no more than its size, and a larger part goes alone', async () => {
  const { send, log, release } = group();
  void send('a');
  const [medium, large] = ['m'.repeat(13), 'l'.repeat(30)];
  const sent = [
    ['b', 'b1-of-8b'],
    ['c', medium],
    ['d', 'd1-5b'],
    ['e', large],
    ['c', 'c2'],
    ['f', 'f1'],
  ] as const;
  const all = sent.map(([context, text]) => send(context, text));
  await release();
  // The second part of c waits for the first one, although it fits.
  expect(log.shared.slice(1)).toEqual([['b1-of-8b', 'd1-5b', 'f1'], [medium], [large], ['c2']]);
  expect(await Promise.all(all)).toEqual(sent.map(([, text]) => text));
});

test('a skipped part is sent again alone; the others have their answers', async () => {
  const { send, log, release } = group((text) => (text === 'passed by' ? undefined : text));
  void send('a');
  const sent = ['d', 'passed by', 'e'].map((name) => send(name));
  await release();
  expect(await Promise.all(sent)).toEqual(['d', 'passed by alone', 'e']);
  expect(log.alone).toEqual(['passed by']);
});

test('an error belongs to the part that caused it: all are sent alone, and only that part fails', async () => {
  const { send, release } = group((text) => (text === 'bad' ? new Error('constraint') : text));
  void send('a');
  const sent = Promise.allSettled(['d', 'bad', 'e'].map((name) => send(name)));
  await release();
  expect(await sent).toMatchObject([
    { status: 'fulfilled', value: 'd alone' },
    { status: 'rejected', reason: { message: 'constraint' } },
    { status: 'fulfilled', value: 'e alone' },
  ]);
});

test('where the outcome is unknown, nothing is sent again: each part is in doubt', async () => {
  const cut = Object.assign(new Error('cut'), { code: 'CONNECTION_CLOSED' });
  const { send, log, release } = group((text) => (text === 'cut' ? cut : text));
  void send('a');
  const sent = Promise.allSettled(['d', 'cut'].map((name) => send(name)));
  await release();
  expect(await sent).toMatchObject([
    { status: 'rejected', reason: { code: 'CONNECTION_CLOSED' } },
    { status: 'rejected', reason: { code: 'CONNECTION_CLOSED' } },
  ]);
  expect(log.alone).toEqual([]);
});
