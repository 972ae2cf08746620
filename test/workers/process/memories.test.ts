// `remember` and `recall`: texts that a worker keeps by key, within limits that also apply to concurrent calls.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { deleteWorker } from '../../../src/commands/workers/delete-worker.ts';
import { DEFAULT_TENANT, type TenantId, type WorkerId } from '../../../src/core/ids.ts';
import { MEMORY_LIMITS, memoryTools, type Memories } from '../../../src/tools/built-in/memory.ts';
import { createMemories } from '../../../src/workers/run/memories.ts';
import { refusedWith, runnerFor } from '../../tools/built-in-runner.ts';
import { openApi } from '../../api/harness.ts';
import { says, startFleet, type Fleet } from '../worker-fleet.ts';

let fleet: Fleet;
let memories: Memories;
let workerId: WorkerId;
let run: ReturnType<typeof runnerFor>;
beforeEach(async () => {
  fleet = await startFleet({ model: () => says('hi') });
  memories = createMemories(fleet.database);
  ({ workerId } = await fleet.createContext());
  run = runnerFor(memoryTools(memories));
});
afterEach(() => fleet.close());

const mine = () => ({ tenantId: DEFAULT_TENANT, workerId });
const remember = (key: string, value: string, of = mine()) => run('remember', { key, value }, of);
const recall = (input: { key?: string } = {}, of = mine()) => run('recall', input, of);

test('a text is kept under its key, replaced, and forgotten', async () => {
  expect(await remember('b', 'two')).toEqual({ isError: false, result: { key: 'b', remembered: true } });
  await remember('a', 'one');
  await remember('b', 'three');
  expect(await recall({ key: 'b' })).toEqual({ isError: false, result: { key: 'b', value: 'three' } });
  expect(await recall()).toEqual({
    isError: false,
    result: {
      memories: [
        { key: 'a', value: 'one' },
        { key: 'b', value: 'three' },
      ],
    },
  });
  expect(await remember('b', '')).toMatchObject({ result: { key: 'b', remembered: false } });
  expect(await recall({ key: 'b' })).toEqual({ isError: false, result: { key: 'b', value: null } });
});

test('text that Postgres cannot hold comes back unchanged', async () => {
  const odd = 'a\0b \uD800 \uF8FE0000 𝄞';
  await remember(odd, odd);
  expect(await recall()).toEqual({ isError: false, result: { memories: [{ key: odd, value: odd }] } });
});

test('a memory is not visible to other workers', async () => {
  await remember('k', 'secret');
  const { workerId: other } = await fleet.createContext();
  expect(await recall({}, { ...mine(), workerId: other })).toMatchObject({ result: { memories: [] } });
  const stranger = { ...mine(), tenantId: 2 as TenantId };
  expect(await recall({}, stranger)).toMatchObject({ result: { memories: [] } });
  expect(await remember('k', 'theirs', stranger)).toEqual(refusedWith('worker_gone'));
  expect(await remember('k', '', stranger)).toMatchObject({ isError: false });
  expect(await recall({ key: 'k' })).toMatchObject({ result: { value: 'secret' } });
});

test('the number of memories is limited, also for many calls at once', async () => {
  expect(await remember('k', 'x'.repeat(MEMORY_LIMITS.value + 1))).toEqual(refusedWith('invalid_input'));
  expect(await remember('', 'x')).toEqual(refusedWith('invalid_input'));
  const large = 'x'.repeat(MEMORY_LIMITS.value);
  const received = await Promise.all(Array.from({ length: 20 }, (_, n) => remember(`k${n}`, large)));
  const kept = received.filter((one) => one?.isError === false).length;
  expect(kept).toBe(Math.floor(MEMORY_LIMITS.total / (MEMORY_LIMITS.value + 3)));
  expect(received.find((one) => one?.isError)).toEqual(refusedWith('memory_full'));
  // An existing key may be written again, and a repeated call makes no second memory.
  const first = received.findIndex((one) => one?.isError === false);
  expect(await remember(`k${first}`, large)).toMatchObject({ isError: false });
});

test('a memory survives clear, and is deleted with its worker', async () => {
  const { workerId: cleared, contextId } = await fleet.createContext();
  const api = await openApi({}, fleet.url);
  try {
    await remember('k', 'v', { ...mine(), workerId: cleared });
    expect((await api.post(`/api/contexts/${contextId}/clear`, {})).status).toBe(200);
  } finally {
    await api.close();
  }
  expect(await recall({ key: 'k' }, { ...mine(), workerId: cleared })).toMatchObject({
    result: { value: 'v' },
  });
  await deleteWorker(fleet.ports, DEFAULT_TENANT, cleared);
  expect(await fleet.query('select * from memories')).toEqual([]);
  expect(await remember('k', 'v', { ...mine(), workerId: cleared })).toEqual(refusedWith('worker_gone'));
});
