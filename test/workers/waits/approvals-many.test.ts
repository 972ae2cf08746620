// Many calls that wait for approval, a thousand at full depth: all slots are free, the memory of the worker process
// does not grow with them, and a page of the inbox costs the same.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, expect, test } from 'vitest';
import { WHOLE_TENANT } from '../../../src/core/access/reach.ts';
import { DEFAULT_TENANT, type ContextId } from '../../../src/core/ids.ts';
import { listInbox, type InboxItem, type InboxPlace } from '../../../src/db/read/jobs/inbox.ts';
import type { Page } from '../../../src/db/read/page.ts';
import { depth } from '../../services/depth.ts';
import { result, says, startFleet, type Fleet } from '../worker-fleet.ts';

/** This many come first: until then caches fill and code is compiled. */
const WARM = depth(150, 500);
// More calls than a page of the inbox holds.
const MANY = WARM + depth(150, 1_000);
/** Bytes of each call: a process that keeps a snapshot keeps more than these. */
const CALL = 16_000;
/**
 * Bytes a waiting context may leave in memory: at most half of its call. With fewer contexts, the rest of the heap
 * weighs more.
 */
const LEFT_BEHIND = depth(8_000, 2_000);

let fleet: Fleet | null = null;
afterEach(async () => {
  await fleet?.close();
  fleet = null;
});

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const heap = (): number => {
  collect();
  return process.memoryUsage().heapUsed;
};

test('many contexts that wait for approval occupy no slot and no memory', { timeout: 180_000 }, async () => {
  const ran: string[] = [];
  const of = (fleet = await startFleet({
    concurrency: 4,
    tools: {
      mail: {
        effect: 'once',
        approval: 'always',
        execute: ({ id }) => {
          ran.push(id);
          return result('sent');
        },
      },
    },
    model: ({ messages }) =>
      messages.at(-1)?.content.some((block) => block.type === 'tool_result') === true
        ? says('thanks')
        : says('', { name: 'mail', input: { body: 'x'.repeat(CALL) } }),
  }));
  const contexts: ContextId[] = [];
  const waiting = `select id from contexts where scheduling_status = 'waiting' and state = 'AwaitingToolApproval' and lease_owner is null`;
  const grow = async (to: number): Promise<number> => {
    while (contexts.length < to) {
      const batch = Array.from({ length: 50 }, async () => {
        const { contextId } = await of.createContext();
        await of.post(contextId, 'go');
        return contextId;
      });
      contexts.push(...(await Promise.all(batch)));
    }
    await of.until(async () => (await of.query(waiting)).length === to);
    await of.until(() => of.processes[0]?.running() === 0);
    return heap();
  };
  const few = await grow(WARM);
  const many = await grow(MANY);
  expect((many - few) / (MANY - WARM)).toBeLessThan(LEFT_BEHIND);

  // All slots are free: a new input runs at once.
  const { contextId } = await of.createContext();
  await of.post(contextId, 'go');
  await of.until(async () => (await of.query(waiting)).length === MANY + 1);

  const listFrom = (after: InboxPlace | null): Promise<Page<InboxItem>> =>
    of.database.transaction((tx) =>
      listInbox(tx, DEFAULT_TENANT, { reach: WHOLE_TENANT, user: null, kind: 'approval' }, { after, limit: 2_000 }),
    );
  let listed = 0;
  let page = await listFrom(null);
  for (;;) {
    listed += page.items.length;
    // A page holds four megabytes.
    expect(page.items.length * CALL).toBeLessThan(5_000_000);
    const last = page.items.at(-1);
    if (!page.more || last === undefined) break;
    page = await listFrom({ requestedAt: last.requestedAt, id: last.toolCallId });
  }
  expect(listed).toBe(MANY + 1);
  expect(ran).toEqual([]);
  await Promise.all(contexts.slice(0, 50).map((id) => of.judge(id)));
  await of.until(() => ran.length === 50);
  expect(new Set(ran).size).toBe(50);
});
