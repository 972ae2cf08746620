// What is sent together once per turn of the event loop: wake-ups and lines of the log.
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { ContextId } from '../../src/core/ids.ts';
import { perTurn } from '../../src/per-turn.ts';
import { handleEntry, toWakeQueue, type EntryToAdd } from '../../src/queue/bullmq.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('what is added in one turn is sent at its end, in order, and never an empty list', async () => {
  const sent: number[][] = [];
  const items = perTurn<number>((added) => void sent.push(added));
  items.add(1);
  await Promise.resolve();
  items.add(2);
  expect(sent).toEqual([]);
  await turn();
  expect(sent).toEqual([[1, 2]]);
  items.add(3);
  items.flush();
  items.flush();
  await turn();
  expect(sent).toEqual([[1, 2], [3]]);
});

/** A queue that records what is added together, and fails. */
function recorded(isConnected = () => true) {
  const added: EntryToAdd[][] = [];
  const add = async (entries: EntryToAdd[]): Promise<never> => {
    added.push(entries);
    throw new Error('Redis is away.');
  };
  const queue = toWakeQueue({ add, count: async () => 0 }, isConnected, async () => undefined);
  return { queue, added };
}

const first = '0190a000-0000-7000-8000-000000000001' as ContextId;
const second = '0190a000-0000-7000-8000-000000000002' as ContextId;

test('wake-ups of one turn are added together; a queue that fails loses them and nothing else', async () => {
  const { queue, added } = recorded();
  queue.notify({ contextId: first, wakeSeq: 1, epoch: 0 });
  queue.notify({ contextId: second, wakeSeq: 3, epoch: 2 });
  await turn();
  expect(added).toMatchObject([
    [
      { data: { contextId: first, isNew: true }, opts: { jobId: `${first}-1-0` } },
      { data: { contextId: second }, opts: { jobId: `${second}-3-2` } },
    ],
  ]);
  queue.notify({ contextId: first, wakeSeq: 2, epoch: 0 });
  await queue.close();
  expect(added.slice(1)).toMatchObject([[{ data: { contextId: first }, opts: { jobId: `${first}-2-0` } }]]);
});

test('without a connection no wake-up is kept', async () => {
  let isConnected = false;
  const { queue, added } = recorded(() => isConnected);
  queue.notify({ contextId: first, wakeSeq: 1, epoch: 0 });
  await turn();
  isConnected = true;
  await turn();
  expect(added).toEqual([]);
});

test('an entry tells whether its context is new; entries of other versions do not, and strange ones are ignored', async () => {
  const heard: [ContextId, boolean][] = [];
  const answer = async (contextId: ContextId, isNew: boolean): Promise<void> => void heard.push([contextId, isNew]);
  await handleEntry({ contextId: first, isNew: true }, answer);
  await handleEntry({ contextId: second }, answer);
  await handleEntry({ contextId: 'no id', isNew: true }, answer);
  expect(heard).toEqual([
    [first, true],
    [second, false],
  ]);
});

test('a process that exits in the same turn writes its last lines', () => {
  const log = path.join(import.meta.dirname, '../../src/platform/log.ts');
  const script = `import { createLog } from ${JSON.stringify(log)};
    const log = createLog('info');
    log.info('one');
    await new Promise((resolve) => setTimeout(resolve, 5));
    log.info('two');
    log.fatal('three');
    log.info('four');
    process.exit(0);`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  const lines = output.trim().split('\n');
  // A write that is under way when the process exits may come later.
  const messages = lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
  expect(messages.sort()).toEqual(['four', 'one', 'three', 'two']);
});
