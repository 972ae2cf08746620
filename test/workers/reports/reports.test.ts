// What tools report is stored beside their calls: in order, within limits, and without slowing anything down.
import { afterEach, expect, test } from 'vitest';
import { DEFAULT_TENANT, type ContextId, type JobId } from '../../../src/core/ids.ts';
import type { EntryLevel } from '../../../src/core/tools/report.ts';
import { listLog, type EntryView } from '../../../src/db/calls/tool-reports.ts';
import { findToolCalls } from '../../../src/db/read/jobs/tool-call-views.ts';
import { listSteps } from '../../../src/db/read/jobs/step-views.ts';
import { tagOf } from '../../services/statements.ts';
import { says, result, startFleet, type Fleet, type FleetOptions } from '../worker-fleet.ts';

let fleet: Fleet | null = null;
afterEach(async () => {
  await fleet?.close();
  fleet = null;
});

type Execute = NonNullable<FleetOptions['tools']>[string]['execute'];

/** A fleet whose model calls `work` once, and then ends. */
async function fleetOf(execute: Execute, more: Partial<FleetOptions> = {}): Promise<Fleet> {
  let steps = 0;
  fleet = await startFleet({
    model: () => ((steps += 1) % 2 === 1 ? says('', { name: 'work', input: {} }) : says('done')),
    tools: { work: { effect: 'idempotent', execute } },
    ...more,
  });
  return fleet;
}

async function logOf(of: Fleet, jobId: JobId, level: EntryLevel = 'debug'): Promise<EntryView[]> {
  const request = { level, toolCallId: null, after: null, limit: 5_000 };
  return (await listLog(of.database.db, DEFAULT_TENANT, jobId, request)) ?? [];
}

async function callIn(of: Fleet, contextId: ContextId) {
  const [row] = await of.query(`select id from calls where context_id = '${contextId}'`);
  const [call] = await findToolCalls(of.database.db, DEFAULT_TENANT, contextId, [row?.['id'] as never]);
  return call;
}

test('entries are stored in order with their call, and so is the last progress', async () => {
  const of = await fleetOf((_, _signal, report) => {
    report.log('info', 'packing', { order: 'A-17', weight: 2.5 });
    report.log('error', 'the scale is broken', undefined);
    report.progress({ message: 'packing', done: 1, total: 3 });
    report.progress({ message: 'labels', done: 2, total: 3 });
    return result('packed');
  });
  const { contextId, jobId } = await of.begin('go');
  await of.ended(jobId);
  await of.until(async () => (await logOf(of, jobId)).length === 2);
  const call = await callIn(of, contextId);
  const at = expect.any(Number);
  const place = { toolCallId: call?.id, attempt: 1, epoch: 1, at };
  expect(await logOf(of, jobId)).toEqual([
    { ...place, number: 1, level: 'info', message: 'packing', fields: { order: 'A-17', weight: 2.5 } },
    { ...place, number: 2, level: 'error', message: 'the scale is broken', fields: null },
  ]);
  expect(await logOf(of, jobId, 'warn')).toHaveLength(1);
  const progress = { message: 'labels', done: 2, total: 3, at };
  const report = { entries: 2, dropped: 0, progress };
  expect(call?.report).toEqual(report);
  const timeline = await listSteps(of.database.db, DEFAULT_TENANT, jobId, { after: 0, limit: 10 });
  expect(timeline?.steps.map((step) => step.report)).toEqual([null, report, null]);
});

test('entries and progress can be read while the call runs', async () => {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const of = await fleetOf(async (_, _signal, report) => {
    report.log('info', 'begun', undefined);
    report.progress('half');
    await ended;
    return result('done');
  });
  const { contextId, jobId } = await of.begin('go');
  await of.until(async () => (await logOf(of, jobId)).length === 1);
  expect((await callIn(of, contextId))?.report).toMatchObject({ entries: 1, progress: { message: 'half' } });
  end();
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
});

test('100,000 lines leave 1,000, with errors among them, in a few statements', async () => {
  const statements: string[] = [];
  const of = await fleetOf(
    (_, _signal, report) => {
      for (let n = 1; n <= 100_000; n += 1) report.log('info', `line ${n}`, { n });
      report.log('error', 'at last', undefined);
      for (let n = 1; n <= 1_000; n += 1) report.log('error', `again ${n}`, undefined);
      return result('done');
    },
    { hook: (text) => void (tagOf(text) === 'tool_reports.store' && statements.push(text)) },
  );
  const { contextId, jobId } = await of.begin('go');
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  await of.until(async () => (await logOf(of, jobId)).length === 1_001);
  const log = await logOf(of, jobId);
  expect(log.slice(0, 900).map(({ message }) => message)).toEqual(
    Array.from({ length: 900 }, (_, at) => `line ${at + 1}`),
  );
  expect(log[900]?.message).toBe('at last');
  expect(log.at(-1)).toMatchObject({
    level: 'warn',
    message: '… 100001 more entries were dropped: a call may store 1000 entries and 256 KB.',
  });
  expect((await callIn(of, contextId))?.report).toMatchObject({ entries: 1_001, dropped: 100_001 });
  // 1,001 rows in a few statements, and lines that are dropped cost next to nothing.
  expect(statements.length).toBeLessThanOrEqual(5);
});

test('large and hostile values are cut or replaced by a note, and fail nothing', async () => {
  const cyclic: Record<string, unknown> = { name: 'a' };
  cyclic['self'] = cyclic;
  const throwing = {
    toJSON: () => {
      throw new Error('no');
    },
  };
  const of = await fleetOf((_, _signal, report) => {
    report.log('info', `a\0b\ud800c`, { 'k\0': 'v\0\udc00', n: 1n });
    report.log('info', 'x'.repeat(3_000), { big: 'x'.repeat(5_000) });
    report.log('info', { a: 1 }, cyclic);
    report.log('info', throwing, throwing);
    report.log('info', new Error('bad'), new Error('worse'));
    report.log('info', 'list', [1, 2]);
    report.progress({ message: throwing, done: NaN });
    report.progress(throwing);
    report.progress({ message: 'p\0'.padEnd(900, 'x'), done: Infinity, total: 5 });
    return result('done');
  });
  const { contextId, jobId } = await of.begin('go');
  expect(await of.ended(jobId)).toMatchObject({ status: 'completed' });
  await of.until(async () => (await logOf(of, jobId)).length === 6);
  const omitted = (why: string) => ({
    omitted: `The fields were left out: ${why}. At most 4000 bytes of JSON are kept.`,
  });
  expect((await logOf(of, jobId)).map(({ message, fields }) => ({ message, fields }))).toEqual([
    { message: 'a\u{fffd}b\u{fffd}c', fields: { 'k\0': 'v\0\udc00', n: '1' } },
    { message: `${'x'.repeat(1_999)}…`, fields: omitted('5010 bytes') },
    { message: '{"a":1}', fields: { name: 'a', self: '[circular]' } },
    { message: '[a value that cannot be converted to text]', fields: omitted('no JSON object') },
    { message: 'Error: bad', fields: { error: 'Error: worse' } },
    { message: 'list', fields: omitted('no JSON object') },
  ]);
  const { message, done, total } = (await callIn(of, contextId))?.report.progress ?? {};
  expect({ message, done, total }).toEqual({ message: `${'p\0'.padEnd(499, 'x')}…`, done: null, total: 5 });
});

test('a tool that reports nothing costs no statement', async () => {
  const sent: string[] = [];
  const of = await fleetOf(() => result('done'), { hook: (text) => void sent.push(tagOf(text) ?? '') });
  await of.ended((await of.begin('go')).jobId);
  await of.close();
  fleet = null;
  expect(sent).not.toContain('tool_reports.store');
});
