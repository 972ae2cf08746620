// Commands that act on several jobs or calls: what is checked before the first of them, and what is told of a half-done one.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { idOf, openFakeApi, type FakeApi } from './fake-api.ts';

let api: FakeApi;
beforeEach(async () => {
  api = await openFakeApi();
});
afterEach(() => api.close());

const CONTEXT = idOf(900);
/** Twice for each job: a dry run, before anything is retried, and the retry. */
const RETRY = 'POST /api/jobs/retry';

type Made = { n: number; branch?: string; kind?: string; status?: string; input?: string | null };

/** Jobs of one context, newest first. */
function jobs(...made: readonly Made[]): void {
  const data = made.map(({ n, branch = 'main', kind = 'input', status = 'failed', input = null }) => ({
    id: idOf(n),
    context_id: CONTEXT,
    branch,
    kind,
    status,
    user: null,
    metadata: {},
    input: input === null ? null : { message_id: input, text: '' },
    finished_at: status === 'running' ? null : '2026-01-01T00:00:00Z',
  }));
  api.answers.set('GET /api/jobs', () => ({ data, next_cursor: null }));
  for (const job of data) api.answers.set(`GET /api/jobs/${job.id}`, () => job);
  retried(null);
}

/** What the API returns for each retry. `code` null: it is retried. */
function retried(code: string | null): void {
  const error = code === null ? null : { code, message: 'Because.' };
  const data = [{ id: idOf(1), context_id: CONTEXT, retry_job_id: error === null ? idOf(800) : null, error }];
  api.answers.set(RETRY, () => ({ data, next_cursor: null, retried: 0, refused: 0 }));
}

test('retry refuses a job whose input was withdrawn: the history would answer another one', async () => {
  jobs({ n: 1, status: 'cancelled', input: idOf(700) });
  for (const more of [[], ['--again']]) {
    const { code, err } = await api.run('retry', idOf(1), ...more);
    expect(code).toBe(1);
    expect(err).toContain('was withdrawn or deleted. Send it again with nightshift run.');
  }
  expect(api.writes).toEqual([]);
});

test('retry asks the API whether the job can be retried, and says what to do if not', async () => {
  jobs({ n: 1 });
  for (const [code, advice] of [
    ['superseded', '--again'],
    ['not_ended', `nightshift cancel ${idOf(1)}`],
    ['input_missing', 'nightshift run'],
    ['queue_full', 'Because.'],
  ] as const) {
    retried(code);
    const refused = await api.run('retry', idOf(1));
    expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringContaining(`(${code}). Because.`) });
    expect(refused.err).toContain(advice);
  }
  expect(api.writes.splice(0)).toEqual([RETRY, RETRY, RETRY, RETRY]);
  retried(null);
  expect(await api.run('retry', idOf(1))).toMatchObject({ err: '', code: 0, out: `${idOf(800)}\n` });
  expect(api.writes).toEqual([RETRY, RETRY]);
});

test('retry and cancel know all jobs before they act on the first', async () => {
  jobs({ n: 1, input: idOf(700) }, { n: 2, branch: 'other', status: 'completed' });
  const input = { status: 'completed', content: [{ type: 'text', text: 'x' }] };
  api.answers.set(`GET /api/contexts/${CONTEXT}/messages/${idOf(700)}`, () => input);
  expect((await api.run('retry', idOf(1), idOf(2), '--again')).err).toContain('is completed');
  expect((await api.run('retry', idOf(1), idOf(3), '--again')).err).toContain('not_found');
  expect((await api.run('cancel', idOf(1), 'ffffff')).err).toContain('No job has an id');
  expect(api.writes).toEqual([]);
  expect((await api.run('retry', idOf(1), idOf(1))).code).toBe(0);
  expect(api.writes).toEqual([RETRY, RETRY]);
});

test('retry by a filter takes no more jobs than --limit, and exits 1 if it retries none of those that match', async () => {
  const refused = (n: number) => ({
    id: idOf(n),
    context_id: CONTEXT,
    retry_job_id: null,
    error: { code: 'superseded', message: 'x' },
  });
  const answer = { data: [refused(2), refused(1)], next_cursor: 'more', retried: 0, refused: 2 };
  api.answers.set(RETRY, () => answer);
  const filter = ['retry', '--status', 'failed', '--yes'];
  const none = await api.run(...filter, '--limit', '4');
  expect(none).toMatchObject({ code: 1, out: expect.stringContaining('0 jobs retried, 4 not.') });
  expect(api.writes).toEqual([RETRY, RETRY]);
  expect((await api.run(...filter, '--limit', '2', '--dry-run')).code).toBe(0);
  api.answers.set(RETRY, () => ({ data: [], next_cursor: null, retried: 0, refused: 0 }));
  expect(await api.run(...filter)).toMatchObject({ code: 0, out: '0 jobs retried, 0 not.\n' });
});

test('with --json, what was done is printed although a later call fails', async () => {
  jobs({ n: 1 });
  const receipt = { job_id: idOf(1), status: 'cancelled', requested_at: 'x', stopped_at: 'x' };
  api.answers.set(`POST /api/jobs/${idOf(1)}/cancel`, () => receipt);
  const { code, out, err } = await api.run('cancel', idOf(1), idOf(2), '--json');
  expect(code).toBe(1);
  expect(JSON.parse(out)).toEqual({ data: [receipt] });
  expect(JSON.parse(err)).toMatchObject({ code: 'not_found' });
  expect(await api.run('cancel', idOf(2), '--json')).toMatchObject({ code: 1, out: '' });
});

test('approve knows all calls before it decides the first, and tells what it decided', async () => {
  const item = (n: number) => ({ kind: 'approval', context_id: idOf(900 + n), tool_call_id: idOf(n) });
  let waiting = [item(1)];
  api.answers.set('GET /api/approvals', () => ({ data: waiting, next_cursor: null }));
  api.answers.set(`POST /api/contexts/${idOf(901)}/tools/approve`, () => ({ resolved: [idOf(1)] }));
  expect((await api.run('approve', idOf(1), idOf(2))).err).toContain('No call with the id');
  expect(api.writes).toEqual([]);
  waiting = [item(1), item(2)];
  const { code, out } = await api.run('approve', idOf(1), idOf(2), '--json');
  expect(code).toBe(1);
  expect(JSON.parse(out)).toEqual({ resolved: [idOf(1)] });
});
