// `jobs --watch` while the API is away.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { start } from './command-line.ts';
import { idOf, openFakeApi, type FakeApi } from './fake-api.ts';

let api: FakeApi;
const opened: FakeApi[] = [];
const open = async (port = 0): Promise<FakeApi> => {
  const fake = await openFakeApi(port);
  opened.push(fake);
  return fake;
};
beforeEach(async () => {
  api = await open();
});
afterEach(() => opened.splice(0).forEach((fake) => fake.close()));

const jobs = (n: number) => () => ({ data: [{ id: idOf(n), status: 'queued' }], next_cursor: null });

test('goes on when the API is there again, and tells both once', async () => {
  api.answers.set('GET /api/jobs', jobs(1));
  const watching = start(['jobs', '--watch', '--json', '--interval', '20ms'], api.env);
  await watching.says('out', new RegExp(idOf(1)));
  api.close();
  await watching.says('err', /Connection lost, reconnecting …/);
  const again = await open(Number(new URL(api.url).port));
  again.answers.set('GET /api/jobs', jobs(2));
  await watching.says('out', new RegExp(idOf(2)));
  watching.signal('SIGINT');
  const { code, err } = await watching.done;
  expect({ code, err }).toEqual({ code: 130, err: 'Connection lost, reconnecting …\nConnected again.\n' });
});

test('ends if the API was never there, or refuses', async () => {
  api.close();
  expect((await start(['jobs', '--watch'], api.env).done).code).toBe(3);
  const other = await open();
  other.answers.set('GET /api/jobs', jobs(1));
  const watching = start(['jobs', '--watch', '--json', '--interval', '20ms'], other.env);
  await watching.says('out', new RegExp(idOf(1)));
  other.answers.delete('GET /api/jobs');
  expect(await watching.done).toMatchObject({ code: 1, err: expect.stringContaining('not_found') });
});
