// Every answer is a snapshot: beside appends, interrupts and clears no answer mixes states from before and after.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ProcessId } from '../../../src/core/ids.ts';
import { addProcess, converse, take } from '../manual-worker.ts';
import { openApi, type Api, type Body } from '../harness.ts';

let api: Api;
let owner: ProcessId;
beforeAll(async () => {
  api = await openApi();
  owner = await addProcess(api);
});
afterAll(() => api.close());

const EPOCHS = 8;

/** The faults of a page that shows a whole context: mixed `epoch`s of clears, turns out of sequence. */
function faultsOf(page: Body[]): string[] {
  const epochs = new Set(page.map(({ content }) => content[0].text.split(' ')[0]));
  const turns = page.filter(({ status }) => status === 'completed').map(({ turn }) => turn);
  const expected = turns.map((_, index) => `${index % 2 === 0 ? 'u' : 'a'}${Math.floor(index / 2) + 1}`);
  const seqs = page.map(({ seq }) => seq ?? Infinity);
  return [
    ...(epochs.size > 1 ? [`epochs ${[...epochs].join()} on one page`] : []),
    ...(turns.join() === expected.join() ? [] : [`turns ${turns.join()}`]),
    ...(seqs.every((seq, index) => index === 0 || seq >= (seqs[index - 1] ?? 0)) ? [] : [`seqs ${seqs.join()}`]),
    ...(new Set(page.map(({ id }) => id)).size === page.length ? [] : ['a message twice']),
  ];
}

test('pages and counters stay consistent beside a writer', async () => {
  const { context_id: id } = await api.worker();
  const faults: string[] = [];
  const over = new AbortController();
  let pages = 0;

  const writing = (async () => {
    for (let epoch = 1; epoch <= EPOCHS; epoch += 1) {
      for (let n = 0; n < 3; n += 1) await converse(api, id, owner, `${epoch} in`, `${epoch} out`);
      // Retracted with its answer: nothing of it is left.
      await api.post(`/api/contexts/${id}/messages`, { content: `${epoch} never` });
      const manual = await take(api, id, owner);
      await manual.admit();
      await api.database.db.execute(
        `update contexts set lease_owner = null, scheduling_status = 'runnable', next_check_at = now() where id = '${id}'`,
      );
      await api.post(`/api/contexts/${id}/interrupt`, { mode: 'rollback' });
      if (epoch < EPOCHS) expect((await api.post(`/api/contexts/${id}/clear`)).status).toBe(200);
    }
    over.abort();
  })();

  const reading = async (path: string, check: (body: Body) => string[]) => {
    while (!over.signal.aborted) {
      const { body } = await api.get(path);
      faults.push(...check(body));
      pages += 1;
    }
  };
  await Promise.all([
    writing,
    reading(`/api/contexts/${id}/messages?limit=200`, ({ data }) => faultsOf(data)),
    reading(`/api/contexts/${id}/messages?limit=200&order=desc`, ({ data }) => faultsOf(data.toReversed())),
    reading(`/api/contexts/${id}`, (context) => {
      const { message_count: messages, turn_count: turns, request_count: requests, usage } = context;
      return [
        ...(turns === Math.ceil(messages / 2) ? [] : [`${messages} messages in ${turns} turns`]),
        ...(usage.output_tokens === requests * 5 ? [] : [`${usage.output_tokens} tokens of ${requests} requests`]),
        ...(context.branches.includes(context.active_branch) ? [] : ['the active branch is not there']),
      ];
    }),
  ]);
  expect(faults).toEqual([]);
  expect(pages).toBeGreaterThan(50);
  const { body } = await api.get(`/api/contexts/${id}/messages`);
  expect(body.data).toHaveLength(6);
});
