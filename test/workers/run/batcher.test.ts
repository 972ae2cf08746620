// How work of many runs shares a sending: each part has an answer of its own, whatever becomes of the others.
import { expect, test } from 'vitest';
import { createBatcher } from '../../../src/workers/run/batcher.ts';
import type { Batch } from '../../../src/workers/run/batcher.ts';

type Part = { context: string; text: string };
type Log = { shared: string[][]; alone: string[] };

/** What is sent waits until `release`; what it comes to is told by `outcome`. */
function group(outcome: (text: string) => string | undefined | Error = (text) => text) {
  const log: Log = { shared: [], alone: [] };
  const held: (() => void)[] = [];
  const batch: Batch<Part, string> = {
    contextOf: ({ context }) => context,
    most: 3,
    async shared(parts) {
      log.shared.push(parts.map(({ text }) => text));
      await new Promise<void>((resolve) => held.push(resolve));
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
    /** Lets what is under way end, and what follows, until nothing is left. */
    release: async () => {
      for (let rounds = 0; rounds < 20; rounds += 1) {
        for (const resolve of held.splice(0)) resolve();
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

test('what comes while nothing is under way is sent at once, by itself', async () => {
  const { send, log, release } = group();
  void send('a');
  expect(log.shared).toEqual([['a']]);
  // What is left under way is given up after a while, and nobody would hear of it.
  await release();
});

test('what comes while something is under way shares the next, no more than fits', async () => {
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

test('what takes long holds nobody else up', async () => {
  const { send, log, release } = group();
  void send('slow');
  void send('a');
  expect(log.shared).toEqual([['slow']]);
  await expect.poll(() => log.shared, { timeout: 10_000 }).toEqual([['slow'], ['a']]);
  await release();
});

test('two of one context never share, and keep their order', async () => {
  const { send, log, release } = group();
  void send('a');
  const first = send('x', 'x1');
  const second = send('x', 'x2');
  const third = send('y', 'y1');
  await release();
  expect(log.shared.slice(1)).toEqual([['x1', 'y1'], ['x2']]);
  expect(await Promise.all([first, second, third])).toEqual(['x1', 'x2', 'y1']);
});

test('what is passed by is sent again alone; the others have their answers', async () => {
  const { send, log, release } = group((text) => (text === 'passed by' ? undefined : text));
  void send('a');
  const sent = ['d', 'passed by', 'e'].map((name) => send(name));
  await release();
  expect(await Promise.all(sent)).toEqual(['d', 'passed by alone', 'e']);
  expect(log.alone).toEqual(['passed by']);
});

test('an error is that of the part that made it: all are sent alone, and it alone fails', async () => {
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

test('where nobody can say what became of it, nothing is sent again: each is in doubt', async () => {
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
