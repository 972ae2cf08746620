// What tools report is stored beside their calls: in order, within limits, and without slowing anything down.
import { afterEach, expect, test } from 'vitest';
import { deleteWorker } from '../../../src/commands/workers/delete-worker.ts';
import { DEFAULT_TENANT, parseId, type ContextId, type JobId, type ToolCallId } from '../../../src/core/ids.ts';
import { ids } from '../../../src/platform/ids.ts';
import { ensureTenant } from '../../../src/db/write/tenants/tenants.ts';
import type { EntryLevel } from '../../../src/core/tools/report.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import type { StreamEvent } from '../../../src/core/stream/stream-event.ts';
import { openStreamHub } from '../../../src/events/stream-hub.ts';
import {
  listLog,
  storeReports,
  type EntryView,
  type StoredEntry,
  type StoredReport,
} from '../../../src/db/calls/tool-reports.ts';
import { findToolCalls } from '../../../src/db/read/jobs/tool-call-views.ts';
import { listSteps } from '../../../src/db/read/jobs/step-views.ts';
import { tagOf } from '../../services/statements.ts';
import { aborted, says, result, startFleet, type Fleet, type FleetOptions } from '../worker-fleet.ts';

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
  const id = parseId<ToolCallId>(String(row?.['id']));
  const [call] = id === null ? [] : await findToolCalls(of.database.db, DEFAULT_TENANT, contextId, [id]);
  return call;
}

test('entries are stored in order with their call, and so is the last progress', async () => {
  const of = await fleetOf((_, _signal, { report }) => {
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
  const of = await fleetOf(async (_, _signal, { report }) => {
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
    (_, _signal, { report }) => {
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
  const of = await fleetOf((_, _signal, { report }) => {
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

/** What a call of a context reports, as the writer stores it. */
function reported(contextId: ContextId) {
  const [jobId, toolCallId] = [ids.next<JobId>(), ids.next<ToolCallId>()];
  const id = { tenantId: DEFAULT_TENANT, contextId, jobId, toolCallId, attempt: 1, epoch: 1 };
  const entry: StoredEntry = { ...id, number: 1, at: 0, level: 'info', message: 'x', fields: null };
  const report: StoredReport = { ...id, ordinal: 1, version: 2, progress: null, entries: 2, dropped: 0 };
  return { entry, report };
}

test('what is reported about a deleted context leaves no row', async () => {
  const stored: string[] = [];
  let hasBegun = false;
  const of = await fleetOf(
    async (_, signal, { report }) => {
      report.log('info', 'late', undefined);
      report.progress('late');
      hasBegun = true;
      await aborted(signal);
      return result('done');
    },
    { hook: (text) => void (tagOf(text) === 'tool_reports.store' && stored.push(text)) },
  );
  const [gone, stays] = [await of.createContext(), await of.createContext()];
  await of.post(gone.contextId, 'go');
  await of.until(() => hasBegun);
  await deleteWorker(of.ports, DEFAULT_TENANT, gone.workerId);
  await of.until(() => stored.length > 0);
  for (const { contextId } of [gone, stays]) {
    const { entry, report } = reported(contextId);
    await storeReports(of.database.db, [entry], [report]);
  }
  const rows = 'select context_id from tool_logs union all select context_id from tool_reports';
  expect(await of.query(rows)).toEqual([{ context_id: stays.contextId }, { context_id: stays.contextId }]);
});

test('a statement that is sent again changes nothing, and an older one does not replace a newer one', async () => {
  const of = await fleetOf(() => result('done'));
  const { entry, report } = reported((await of.createContext()).contextId);
  const { db } = of.database;
  await storeReports(db, [entry], [report]);
  await storeReports(db, [entry], [report]);
  await storeReports(db, [], [{ ...report, version: 1, entries: 1 }]);
  const another = await ensureTenant(db, 'another');
  await storeReports(db, [{ ...entry, tenantId: another, number: 2 }], []);
  expect(await of.query('select number, tenant_id from tool_logs')).toEqual([{ number: 1, tenant_id: 1 }]);
  expect(await of.query('select entries, version from tool_reports')).toEqual([{ entries: 2, version: 2 }]);
});

test('progress is streamed at most four times a second, the last value comes, and who joins later gets it', async () => {
  const step = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const of = await fleetOf(async (_, _signal, { report }) => {
    await step.promise;
    for (let done = 1; done <= 1_000; done += 1) report.progress({ done, total: 1_000 });
    await end.promise;
    return result('done');
  });
  const { contextId } = await of.createContext();
  const hub = openStreamHub(of.database, of.ports.bus);
  const follow = async () => {
    const events: StreamEvent[] = [];
    const joined = await hub.join(DEFAULT_TENANT, contextId, null);
    joined?.start({ send: (more) => void events.push(...more), drained: async () => undefined, end: () => undefined });
    const progress = () => events.filter(({ name }) => name === 'ToolCallProgress').map(({ data }) => data);
    return { joined, events, progress };
  };
  const first = await follow();
  const { jobId } = await of.post(contextId, 'go');
  await of.until(() => first.events.some(({ data }) => data['new_state'] === 'ExecutingTools'));
  step.resolve();
  const isLast = (data: JsonObject): boolean => JSON.stringify(data['progress']).includes('"done":1000');
  await of.until(() => first.progress().some(isLast));
  expect(first.progress()[0]).toMatchObject({ context_id: contextId, job_id: jobId, name: 'work', attempt: 1 });
  expect(first.progress().length).toBeLessThan(10);
  const second = await follow();
  await of.until(() => second.progress().some(isLast));
  end.resolve();
  await of.ended(jobId);
  for (const { joined } of [first, second]) joined?.stop();
  hub.close();
});
