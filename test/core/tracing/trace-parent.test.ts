import { expect, test } from 'vitest';
import { parseTraceParent, traceParentOfJob } from '../../../src/core/tracing/trace-parent.ts';
import type { JobId } from '../../../src/core/ids.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

test('the header of a caller is read, also that of a later version', () => {
  expect(parseTraceParent(`00-${TRACE}-${SPAN}-01`)).toBe(`00-${TRACE}-${SPAN}-01`);
  expect(parseTraceParent(` 00-${TRACE}-${SPAN}-00 `)).toBe(`00-${TRACE}-${SPAN}-00`);
  expect(parseTraceParent(`01-${TRACE}-${SPAN}-01-more`)).toBe(`00-${TRACE}-${SPAN}-01`);
});

test.each([
  ['nothing', ''],
  ['no trace', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['no span', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['upper case', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
  ['an id that is too short', `00-${TRACE.slice(1)}-${SPAN}-01`],
  ['more than version 00 has', `00-${TRACE}-${SPAN}-01-more`],
  ['the version that is forbidden', `ff-${TRACE}-${SPAN}-01`],
  ['a statement', `00-${TRACE}-${SPAN}-01'; drop table jobs`],
])('a header with %s is ignored', (_, header) => {
  expect(parseTraceParent(header)).toBeNull();
});

test('a job that no trace asked for has a trace of its own, always the same', () => {
  const id = '0198c0de-0000-7000-8000-00000000abcd' as JobId;
  const own = traceParentOfJob(id);
  expect(own).toBe('00-0198c0de00007000800000000000abcd-800000000000abcd-01');
  expect(parseTraceParent(own)).toBe(own);
});
