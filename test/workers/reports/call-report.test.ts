// What the log of a call says about entries that were dropped.
import { expect, test } from 'vitest';
import type { ContextId, JobId, TenantId, ToolCallId } from '../../../src/core/ids.ts';
import { CallReport } from '../../../src/workers/reports/call-report.ts';

const ID = {
  tenantId: 1 as TenantId,
  contextId: 'context' as ContextId,
  jobId: 'job' as JobId,
  toolCallId: 'call' as ToolCallId,
  attempt: 1,
  epoch: 1,
  ordinal: 1,
};

test('names both reasons for which entries are dropped', () => {
  const messages: string[] = [];
  let hasRoom = true;
  const nothing = (): void => undefined;
  const report = new CallReport(ID, {
    clock: { now: () => 0 },
    nextNumber: () => 1,
    store: ({ message }) => hasRoom && messages.push(message) > 0,
    changed: nothing,
    ended: nothing,
    publish: nothing,
    debug: nothing,
  });
  hasRoom = false;
  report.log('info', 'no room', undefined);
  hasRoom = true;
  for (let n = 1; n <= 902; n += 1) report.log('info', `line ${n}`, undefined);
  report.end();
  expect(messages.slice(900)).toEqual([
    '… 2 more entries were dropped: a call may store 1000 entries and 256 KB.',
    '… 1 more entry was dropped: the process could not store more in time.',
  ]);
  expect(report.summary).toMatchObject({ entries: 902, dropped: 3 });
});
