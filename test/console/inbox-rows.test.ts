// The rows of the inbox: what is finished stays in its place, and the row that has the focus always stays.
import { expect, test } from 'vitest';
import type { InboxItem } from '../../src/client/index.ts';
import { firstWaiting, keyOf, merge, type Row } from '../../web/src/pages/inbox/rows.ts';

const item = (number: number): InboxItem => ({
  kind: 'approval',
  context_id: 'context',
  worker_id: 'worker',
  worker_name: 'clerk',
  job_id: 'job',
  input_message_id: null,
  input_text: null,
  tool_call_id: `call ${number}`,
  name: 'send_mail',
  input: {},
  requested_at: new Date(1_000 * number).toISOString(),
  expires_at: null,
});

/** Oldest first, as the API has them. */
const items = (count: number): InboxItem[] => Array.from({ length: count }, (_, at) => item(at));
const idsOf = (rows: readonly Row[]): string[] => rows.map(({ item: { tool_call_id: id } }) => id);

/** From the newest down, each is decided while it has the focus. Returns the rows, and which row had the focus. */
function decide(count: number, all: readonly InboxItem[]): { rows: readonly Row[]; held: InboxItem } {
  let rows = merge([], all, null);
  let held = item(-1);
  for (let left = all.length - 1; left >= all.length - count; left -= 1) {
    held = item(left);
    rows = merge(rows, all.slice(0, left), keyOf(held));
    expect(idsOf(rows), `after decision ${all.length - left}`).toContain(held.tool_call_id);
  }
  return { rows, held };
}

test('after more decisions than are kept, the row that was just decided stays in its place', () => {
  const { rows, held } = decide(53, items(60));
  expect(rows.filter(({ isOver }) => isOver)).toHaveLength(51);
  expect(rows[50]).toEqual({ item: held, isOver: true });
  expect(idsOf(rows).slice(51)).toEqual(idsOf(merge([], items(7), null)));
  // Once another row has the focus, it is an old one as the others are.
  expect(idsOf(merge(rows, items(7), keyOf(item(3))))).not.toContain(held.tool_call_id);
});

test('a row that has the focus is not pushed off the end by new ones, whether it waits or not', () => {
  const last = keyOf(item(0));
  const shown = (count: number, held: string | null) => idsOf(firstWaiting(merge([], items(count), null), 25, held));
  expect(shown(25, null)).toHaveLength(25);
  expect(shown(26, last)).toEqual(idsOf(merge([], items(26), null)));
  expect(shown(26, null)).not.toContain('call 0');
  // Rows above the end change nothing, and neither does one that is of another kind.
  expect(shown(26, keyOf(item(25)))).toHaveLength(25);
  expect(shown(26, keyOf(item(99)))).toHaveLength(25);

  const decided = merge(merge([], items(1), null), [], last);
  const rows = merge(decided, items(27).slice(1), last);
  expect(firstWaiting(rows, 25, last).at(-1)).toEqual({ item: item(0), isOver: true });
  expect(firstWaiting(rows, 25, null).at(-1)).toEqual({ item: item(2), isOver: false });
});
