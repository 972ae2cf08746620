// A worker process that the operator pauses, resumes and drains: by its row alone, with and without the queue.
import { pino } from 'pino';
import { onTestFinished, describe, expect, test } from 'vitest';
import type { ContextId, ProcessId } from '../../../src/core/ids.ts';
import type { ProcessStatus } from '../../../src/core/process-status.ts';
import { requestStatus } from '../../../src/db/write/request-status.ts';
import { ProcessControl } from '../../../src/workers/process/registration/control.ts';
import { says, startFleet, type Fleet, type FleetOptions } from '../worker-fleet.ts';

/** Answers of the model wait for the test. */
type Held = { answer: () => void };

async function setting(options: Partial<FleetOptions> = {}): Promise<{ fleet: Fleet; held: Held[] }> {
  const held: Held[] = [];
  const fleet = await startFleet({
    model: async (_, signal) => {
      await new Promise<void>((resolve) => {
        held.push({ answer: resolve });
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      return signal.aborted ? { kind: 'aborted' } : says('done');
    },
    ...options,
  });
  onTestFinished(async () => {
    for (const { answer } of held) answer();
    await fleet.close();
  });
  return { fleet, held };
}

const idsOf = async (fleet: Fleet): Promise<ProcessId[]> =>
  (await fleet.query('select id from processes where dead_at is null order by id')).map(
    ({ id }) => String(id) as ProcessId,
  );

/** Asks, and waits until the process does it. */
async function ask(fleet: Fleet, id: ProcessId, status: ProcessStatus): Promise<void> {
  expect(await requestStatus(fleet.database.db, id, status)).toEqual({ kind: 'done', changed: true });
  await fleet.until(async () => {
    const [row] = await fleet.query(`select status from processes where id = '${id}'`);
    return row?.['status'] === status;
  });
}

const ownerOf = async (fleet: Fleet, contextId: ContextId): Promise<unknown> =>
  (await fleet.query(`select lease_owner from contexts where id = '${contextId}'`))[0]?.['lease_owner'];

describe.each(['redis', 'deaf'] as const)('with the queue %s', (queue) => {
  test('a paused process begins no run until it is resumed; what it runs goes on', async () => {
    const { fleet, held } = await setting({ queue });
    const [id] = await idsOf(fleet);
    if (id === undefined) throw new Error('no process');
    const running = await fleet.begin('first');
    await fleet.until(() => held.length === 1);
    await ask(fleet, id, 'paused');
    const waiting = await fleet.begin('second');
    const sameContext = await fleet.post(running.contextId, 'third');
    held[0]?.answer();
    expect(await fleet.ended(running.jobId)).toMatchObject({ status: 'completed' });
    await fleet.atRest();
    // Another process takes the rest, also the next job of the context that the paused one ran.
    await fleet.startProcess();
    await fleet.until(() => held.length === 3);
    const owners = await Promise.all([waiting, sameContext].map(({ contextId }) => ownerOf(fleet, contextId)));
    expect(owners).not.toContain(id);
    for (const { answer } of held) answer();
    await Promise.all([fleet.ended(waiting.jobId), fleet.ended(sameContext.jobId)]);
    await ask(fleet, id, 'running');
    const [, other] = await idsOf(fleet);
    if (other === undefined) throw new Error('no second process');
    await ask(fleet, other, 'paused');
    const last = await fleet.begin('fourth');
    await fleet.until(() => held.length === 4);
    expect(await ownerOf(fleet, last.contextId)).toBe(id);
  });
});

/** Another process declared it dead. Returns its new id. */
async function reborn(fleet: Fleet, id: ProcessId, asked: ProcessStatus): Promise<ProcessId> {
  await fleet.query(
    `update processes set dead_at = now(), end_reason = 'lost', requested_status = '${asked}' where id = '${id}'`,
  );
  const others = async () => (await idsOf(fleet)).filter((one) => one !== id);
  await fleet.until(async () => (await others()).length === 1);
  const [again] = await others();
  if (again === undefined) throw new Error('no process');
  return again;
}

test.each([
  ['before', 'paused'],
  ['and could not read it before', 'running'],
] as const)(
  'a process that was asked to pause %s it was declared dead is paused under its new id',
  async (_, first) => {
    const { fleet, held } = await setting();
    const [id] = await idsOf(fleet);
    if (id === undefined) throw new Error('no process');
    if (first === 'paused') await ask(fleet, id, 'paused');
    const again = await reborn(fleet, id, 'paused');
    const [row] = await fleet.query(`select status, requested_status from processes where id = '${again}'`);
    expect(row).toEqual({ status: 'paused', requested_status: 'paused' });
    await fleet.startProcess();
    const { contextId } = await fleet.begin('waits');
    await fleet.until(() => held.length === 1);
    expect(await ownerOf(fleet, contextId)).not.toBe(again);
  },
);

test('a process that could not read that it should drain does so when it registers again', async () => {
  const { fleet } = await setting({ processes: 0 });
  const asked = Promise.withResolvers<void>();
  const drained = await fleet.startProcess({ onDrainRequest: () => asked.resolve() });
  const [id] = await idsOf(fleet);
  if (id === undefined) throw new Error('no process');
  await fleet.query(
    `update processes set dead_at = now(), end_reason = 'lost', requested_status = 'draining' where id = '${id}'`,
  );
  await asked.promise;
  await drained.drain();
});

test('a drain after a signal is told as a drain, and no pause or resume changes it', () => {
  const seen: string[] = [];
  const control = new ProcessControl({
    slots: { pause: () => void seen.push('paused'), resume: () => void seen.push('resumed') },
    log: pino({ level: 'silent' }),
    onDrainRequest: () => seen.push('drained'),
  });
  control.receive('paused');
  control.begunDraining();
  for (const requested of ['running', 'paused', 'draining'] as const) control.receive(requested);
  expect([control.status, control.requested, seen]).toEqual(['draining', 'paused', ['paused']]);
});

test('a drain ends the process as a signal does, and another one continues its runs', async () => {
  const { fleet, held } = await setting({ processes: 0 });
  const asked = Promise.withResolvers<void>();
  const drained = await fleet.startProcess({ onDrainRequest: () => asked.resolve() });
  const [id] = await idsOf(fleet);
  if (id === undefined) throw new Error('no process');
  const { jobId } = await fleet.begin('first');
  await fleet.until(() => held.length === 1);
  expect(await requestStatus(fleet.database.db, id, 'draining')).toEqual({ kind: 'done', changed: true });
  await asked.promise;
  await fleet.startProcess();
  const ending = drained.drain();
  held[0]?.answer();
  await ending;
  // The other one may call the model later, or not at all: the answer may have come in time.
  await fleet.until(async () => {
    for (const { answer } of held) answer();
    return (await fleet.job(jobId))['finished_at'] !== null;
  });
  expect(await fleet.job(jobId)).toMatchObject({ status: 'completed' });
  expect(await fleet.query(`select end_reason, requested_status from processes where id = '${id}'`)).toEqual([
    { end_reason: 'stopped', requested_status: 'draining' },
  ]);
});

test('a process that serves more than its runs cannot be drained by a request', async () => {
  const { fleet } = await setting();
  const [id] = await idsOf(fleet);
  if (id === undefined) throw new Error('no process');
  expect(await requestStatus(fleet.database.db, id, 'draining')).toEqual({ kind: 'cannot_drain' });
});
