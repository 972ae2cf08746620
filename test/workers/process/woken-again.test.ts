// A wake-up that arrives at the same process while its run of that context is just ending is not lost.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jobNews } from '../../../src/bus/bus.ts';
import { localBus } from '../../../src/bus/local.ts';
import type { ContextId } from '../../../src/core/ids.ts';
import { Registry } from '../../../src/workers/process/registry.ts';
import { runContext } from '../../../src/workers/run/run-context.ts';
import { given, ids, type Given } from '../../db/database-fixture.ts';
import { together, workerState } from '../../db/worker-state.ts';
import { isClaim } from '../../services/statements.ts';
import { says } from '../worker-fleet.ts';

let the: Given;
beforeAll(async () => {
  the = await given();
});
afterAll(() => the.close());

test('a wake-up for a place in use is remembered until the place is left', async () => {
  const registry = new Registry();
  const contextId = ids.next<ContextId>();
  const place = await registry.enter(contextId);
  expect(await registry.enter(contextId)).toBeNull();
  expect(place?.leave()).toBe(true);
  expect((await registry.enter(contextId))?.leave()).toBe(false);
});

test('a run whose context was woken between its last append and its end reads once more', async () => {
  const { contextId } = await the.context();
  await the.submit(contextId);
  const id = await the.process();
  let claims = 0;
  const database = the.open({
    max: 2,
    hook: async (text) => {
      if (!isClaim(text)) return;
      claims += 1;
      // The wake-up is for an input, which is readable by then.
      if (claims === 2) await the.submit(contextId);
    },
  });
  const bus = localBus();
  const base = workerState(the);
  const state = together({
    ...base,
    database,
    bus: {
      ...bus,
      // Published after the commit that parked, before the run has left.
      publish: (channel, message) => {
        if (channel.name === jobNews().name && claims === 1) void runContext(state, contextId);
        bus.publish(channel, message);
      },
    },
    abilities: { ...base.abilities, model: () => ({ isLoaded: () => true, call: async () => says('hello') }) },
    identity: () => id,
  });
  await runContext(state, contextId);
  expect(claims).toBe(2);
  expect(await the.rows('select status from jobs')).toEqual([{ status: 'completed' }, { status: 'completed' }]);
});
