// How often the report writer asks PostgreSQL, and what it keeps.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ContextId, JobId, TenantId, ToolCallId } from '../../../src/core/ids.ts';
import type { Executor } from '../../../src/db/connection/client.ts';
import type { StoredEntry } from '../../../src/db/calls/tool-reports.ts';
import type { CallReport } from '../../../src/workers/reports/call-report.ts';
import { ReportWriter } from '../../../src/workers/reports/report-writer.ts';

const TAKES_MS = 3;

let statements = 0;
let isAway = false;
const warn = vi.fn();
const execute = vi.fn(async () => {
  statements += 1;
  await new Promise((resolve) => setTimeout(resolve, TAKES_MS));
  if (isAway) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  return [];
});

beforeEach(() => {
  vi.useFakeTimers();
  statements = 0;
  isAway = false;
  warn.mockClear();
});
afterEach(() => {
  vi.useRealTimers();
});

const open = (): ReportWriter => new ReportWriter({ execute } as unknown as Executor, { warn } as never);

const CALL = {
  tenantId: 1 as TenantId,
  contextId: 'context' as ContextId,
  jobId: 'job' as JobId,
  toolCallId: 'call' as ToolCallId,
  attempt: 1,
  epoch: 1,
};
let number = 0;
const entry = (): StoredEntry => ({
  ...CALL,
  number: (number += 1),
  at: 0,
  level: 'info',
  message: 'packing',
  fields: null,
});

/** `calls` entries each 5 ms. */
async function logFor(ms: number, writer: ReportWriter, calls: number): Promise<void> {
  for (let at = 0; at < ms; at += 5) {
    for (let call = 0; call < calls; call += 1) writer.add(entry(), 10);
    await vi.advanceTimersByTimeAsync(5);
  }
}

test('sends about one statement a second while calls log', async () => {
  const writer = open();
  await logFor(2_000, writer, 1);
  expect(statements).toBeLessThanOrEqual(3);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(statements).toBeLessThanOrEqual(4);
  expect(vi.getTimerCount()).toBe(0);
});

test('sends more statements only when entries fill them', async () => {
  const writer = open();
  await logFor(2_000, writer, 10);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(statements).toBeLessThanOrEqual(4_000 / 500 + 3);
  expect(vi.getTimerCount()).toBe(0);
});

test('stores what calls reported that end at about the same time with one statement', async () => {
  const writer = open();
  for (let call = 0; call < 10; call += 1) {
    writer.add(entry(), 10);
    writer.writeSoon();
    await vi.advanceTimersByTimeAsync(2);
  }
  expect(statements).toBe(0);
  await vi.advanceTimersByTimeAsync(50);
  expect(statements).toBe(1);
  expect(vi.getTimerCount()).toBe(0);
});

test('a call that ends while a statement is under way is stored soon after it', async () => {
  const writer = open();
  writer.add(entry(), 10);
  await vi.advanceTimersByTimeAsync(1_001);
  expect(statements).toBe(1);
  writer.add(entry(), 10);
  writer.writeSoon();
  await vi.advanceTimersByTimeAsync(60);
  expect(statements).toBe(2);
});

test('stop stores the rest, also of what was added while a statement was under way', async () => {
  const writer = open();
  writer.add(entry(), 10);
  await vi.advanceTimersByTimeAsync(1_001);
  writer.add(entry(), 10);
  const stopped = writer.stop();
  await vi.advanceTimersByTimeAsync(50);
  await stopped;
  expect(statements).toBe(2);
  expect(warn).not.toHaveBeenCalled();
});

test('stop without PostgreSQL leaves no timer, and drops the rest with one warning', async () => {
  const writer = open();
  isAway = true;
  for (let at = 0; at < 3; at += 1) writer.add(entry(), 10);
  const stopped = writer.stop();
  await vi.advanceTimersByTimeAsync(50);
  await stopped;
  expect(vi.getTimerCount()).toBe(0);
  expect(warn.mock.calls).toEqual([[{ entries: 3, reports: 0 }, expect.stringContaining('dropped')]]);
  const before = statements;
  expect(writer.add(entry(), 10)).toBe(false);
  writer.changed({} as CallReport);
  writer.writeSoon();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(statements).toBe(before);
  expect(vi.getTimerCount()).toBe(0);
});
