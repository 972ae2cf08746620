// A context whose config a process does not support is released to others, longer each time, and its history is not
// read for it.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ContextId } from '../../../src/core/ids.ts';
import type { Serving } from '../../../src/core/workers/settings.ts';
import { DatabaseClock } from '../../../src/workers/process/clock.ts';
import { Registry } from '../../../src/workers/process/registry.ts';
import { Unsupported } from '../../../src/workers/process/unsupported.ts';
import { runContext } from '../../../src/workers/run/run-context.ts';
import type { WorkerState } from '../../../src/workers/process/ports.ts';
import { settings } from '../../core/builders.ts';
import { given, ids, type Given } from '../../db/database-fixture.ts';
import { slotsOf, sweep, together, workerState } from '../../db/worker-state.ts';
import { isClaim, tagOf } from '../../services/statements.ts';

let the: Given;
beforeAll(async () => {
  the = await given();
});
afterAll(() => the.close());
beforeEach(() =>
  the.rows('truncate contexts, workers, branches, jobs, messages, event_batches, tool_calls, processes cascade'),
);

/** The clock stands still: a wait that is not over yet does not end on a slow machine. */
class StillClock extends DatabaseClock {
  readonly #now = Date.now();
  override now(): number {
    return this.#now;
  }
}

type Process = { state: WorkerState; serving: Serving; claims: number; reads: number };

async function startProcess(): Promise<Process> {
  const id = await the.process();
  const process: Process = {
    serving: { kind: 'unsupported', missing: ['tool look'] },
    claims: 0,
    reads: 0,
    state: workerState(the),
  };
  const database = the.open({
    max: 2,
    hook: (text) => {
      if (isClaim(text)) process.claims += 1;
      if (tagOf(text) === 'history.read') process.reads += 1;
    },
  });
  const { abilities } = process.state;
  process.state = together({
    ...process.state,
    database,
    registry: new Registry(),
    slots: slotsOf(2),
    clock: new StillClock(),
    identity: () => id,
    abilities: { ...abilities, resolve: () => process.serving },
  });
  return process;
}

/** One round of a sweep, until all work that it found is done. */
async function sweepNow({ state }: Process, contextId: ContextId): Promise<void> {
  await the.rows(`update contexts set next_check_at = now() - interval '1 second' where id = '${contextId}'`);
  await sweep(state);
  await state.registry.emptied();
}

test('it is released to others at once, and its history is not read again', async () => {
  const { contextId } = await the.context();
  await the.submit(contextId);
  const process = await startProcess();
  await runContext(process.state, contextId);
  expect(process).toMatchObject({ claims: 1, reads: 1 });
  expect(await the.row(contextId)).toMatchObject({
    scheduling_status: 'waiting',
    lease_owner: null,
    failed_claims: 0,
  });
  await sweepNow(process, contextId);
  expect(process).toMatchObject({ claims: 1, reads: 1 });
  await runContext(process.state, contextId);
  expect(process).toMatchObject({ claims: 2, reads: 1 });
});

test('another process finds it unchanged, and a change of it makes it worth a read', async () => {
  const { contextId } = await the.context();
  await the.submit(contextId);
  const process = await startProcess();
  await runContext(process.state, contextId);
  const other = await startProcess();
  await sweepNow(other, contextId);
  expect(other.claims).toBe(1);
  await the.submit(contextId);
  await sweepNow(process, contextId);
  expect(process).toMatchObject({ claims: 2, reads: 1 });
  expect(await the.row(contextId)).toMatchObject({ failed_claims: 0 });
});

test('it runs once its config is supported', async () => {
  const { contextId } = await the.context();
  const jobId = await the.submit(contextId);
  const process = await startProcess();
  await runContext(process.state, contextId);
  process.serving = { kind: 'served', settings: settings() };
  await the.rows(`update contexts set control_seq = control_seq + 1 where id = '${contextId}'`);
  await sweepNow(process, contextId);
  expect(process).toMatchObject({ claims: 2, reads: 2 });
  expect(await the.rows(`select status from jobs where id = '${jobId}'`)).toEqual([{ status: 'running' }]);
  expect(process.state.registry.unsupported.has(contextId)).toBe(false);
});

test('the waits grow to half a minute, end with the job’s deadline, and start again with any change', () => {
  const unsupported = new Unsupported();
  const seen = { contextId: ids.next<ContextId>(), wakeSeq: 1, controlSeq: 1 };
  const waitAfter = (of: typeof seen, deadline: number | null = null): number => {
    unsupported.add(of, 0, deadline);
    let ms = 0;
    while (unsupported.passedBy(ms).length > 0) ms += 500;
    return ms;
  };
  expect(Array.from({ length: 7 }, () => waitAfter(seen))).toEqual([
    1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000,
  ]);
  expect(waitAfter(seen, 3_000)).toBe(3_000);
  expect(waitAfter({ ...seen, wakeSeq: 2 })).toBe(1_000);
});
