// The log of a job is read by page, without a browser.
import { describe, expect, test } from 'vitest';
import type { LogEntry } from '../../src/client/index.ts';
import { LogReader } from '../../web/src/data/jobs/log-reader.ts';

const PAGE = 200;

const entry = (at: number): LogEntry => ({
  id: String(at),
  job_id: 'job',
  tool_call_id: 'call',
  attempt: 1,
  level: 'info',
  message: 'Line',
  fields: null,
  at: '2026-01-01T00:00:00.000Z',
});

/** A log with so many entries, which may grow. */
function logOf(length: number) {
  const log = { length, reads: 0 };
  const read = async (after: string | undefined) => {
    log.reads += 1;
    const from = after === undefined ? 0 : Number(after) + 1;
    const upto = Math.min(from + PAGE, log.length);
    const entries = Array.from({ length: Math.max(0, upto - from) }, (_, at) => entry(from + at));
    return { entries, next: upto < log.length ? String(upto) : null };
  };
  return { log, read };
}

test('a long log is continued only on demand', async () => {
  const { log, read } = logOf(2_500);
  const reader = new LogReader();
  const first = await reader.read(undefined, read);
  expect([first.entries.length, first.isWhole, log.reads]).toEqual([1_000, false, 5]);
  expect(await reader.read(first, read)).toBe(first);
  expect(log.reads).toBe(5);
  reader.more(1_000);
  const second = await reader.read(first, read);
  expect([second.entries.length, second.isWhole]).toEqual([2_000, false]);
  // As after the tab was opened again: another reader goes on from what is known.
  const again = new LogReader();
  again.more(2_000);
  expect(await again.read(second, read)).toMatchObject({ isWhole: true, entries: { length: 2_500 } });
});

test('a read without new entries gives the same object, and one with new entries adds them', async () => {
  const { log, read } = logOf(3);
  const reader = new LogReader();
  const first = await reader.read(undefined, read);
  expect(await reader.read(first, read)).toBe(first);
  log.length = 4;
  expect((await reader.read(first, read)).entries.map(({ id }) => id)).toEqual(['0', '1', '2', '3']);
});

describe('a log is read again', () => {
  test('while a call runs, and some times after the calls have changed', async () => {
    const { read } = logOf(1);
    const reader = new LogReader();
    let log = await reader.read(undefined, read);
    for (let reads = 1; reader.isActive(false); reads += 1) {
      expect(reads).toBeLessThan(10);
      log = await reader.read(log, read);
    }
    expect(reader.isActive(true)).toBe(true);
    reader.renew('1 running');
    expect(reader.isActive(false)).toBe(true);
  });
});
