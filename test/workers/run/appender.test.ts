// Appends of several runs share a statement, as long as they are small.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MessageId } from '../../../src/core/ids.ts';
import { charactersIn } from '../../../src/core/json.ts';
import type { Append } from '../../../src/core/run/append.ts';
import { createAppender } from '../../../src/workers/run/appender.ts';
import { given, ids, nothing, type Given } from '../../db/database-fixture.ts';
import { tagOf } from '../../services/statements.ts';

let the: Given;
beforeAll(async () => {
  the = await given();
});
afterAll(() => the.close());

async function appendOf(characters: number): Promise<Append> {
  const { contextId } = await the.context();
  const jobId = await the.submit(contextId);
  const { lease } = await the.claimed(contextId);
  const content = [{ type: 'text' as const, text: 'x'.repeat(characters) }];
  const message = {
    id: ids.next<MessageId>(),
    role: 'user',
    type: 'text',
    turn: 'u1',
    content,
    jobId,
    model: null,
  } as const;
  return nothing(lease, { entries: [{ kind: 'message', message }] });
}

test('a statement holds small ones of many contexts; a large one has its own', async () => {
  const appends = [];
  for (const characters of [10, 10, 1_100_000, 10, 600_000, 600_000]) appends.push(await appendOf(characters));
  let sent = 0;
  const database = the.open({
    max: 2,
    hook: (text) => {
      if (tagOf(text) === 'contexts.append') sent += 1;
    },
  });
  const append = createAppender(database.db);
  const outcomes = await Promise.all(appends.map((one) => append(one)));
  expect(outcomes.every(({ kind }) => kind === 'committed')).toBe(true);
  // The first and the large one at once; then the small ones with one of the medium ones, and the other medium one.
  expect(sent).toBe(4);
});

test('the size is that of all texts, however deep', () => {
  expect(charactersIn({ a: 'four', b: [1, null, { c: ['12', true] }], d: undefined })).toBe(6);
});
