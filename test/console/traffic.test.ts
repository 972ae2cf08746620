// How many requests the console makes: their number depends on what is shown, not on how much there is.
import type { Page, Request } from 'playwright-core';
import { describe, expect, test as unitTest } from 'vitest';
import { cursorOfPageWith, withFreshPage, withFreshTop } from '../../web/src/data/query/fresh-page.ts';
import { browserTest as test, settled, useBrowser } from './rig/browser.ts';
import { useTenant } from './rig/platform.ts';
import { openContext } from './rig/scenes.ts';
import { stopPolling } from './rig/timers.ts';
import { depth } from '../services/depth.ts';

const platform = useTenant('traffic');
const { visit } = useBrowser(platform);

/** Requests of the API that a page makes from now on, without its stream: method and path. */
function watch(page: Page): string[] {
  const seen: string[] = [];
  page.on('request', (request: Request) => {
    const { pathname, search } = new URL(request.url());
    if (pathname.startsWith('/api/') && !pathname.endsWith('/events')) seen.push(`${pathname}${search}`);
  });
  return seen;
}

/** A context whose answer created so many workers, which have ended. */
async function spawned(count: number): Promise<string> {
  const { client } = platform();
  const calls = Array.from({ length: count }, (_, at) => `call: spawn_worker {"input": "say: read", "name": "w${at}"}`);
  const { context, jobs } = await openContext(client, `with ${count}`, [`${calls.join('\n')}\n---\nsay: all done`], {
    tools: ['spawn_worker'],
  });
  expect((await client.jobs.wait(jobs[0] ?? '')).status).toBe('completed');
  return context.id;
}

const links = (page: Page) => page.getByRole('log').getByRole('link', { name: /^w\d+/ });

test('the HTML of a page names all scripts and styles that the page loads', async () => {
  const { client, url } = platform();
  const { context, jobs } = await openContext(client, 'loaded', ['say: hello']);
  const [job = ''] = jobs;
  const ofJob = ['overview', 'timeline', 'io', 'steps', 'logs'].map((tab) => `/jobs/${job}?tab=${tab}`);
  const of = [`/contexts/${context.id}`, ...ofJob, `/workers/${context.worker_id}/tree`];
  const lists = [
    '/',
    '/jobs',
    '/inbox',
    '/schedules',
    '/tenants',
    '/overview',
    '/operations',
    '/search',
    '/access',
    '/settings',
  ];
  for (const address of [...lists, ...of]) {
    const page = await visit('about:blank');
    const loaded = new Set<string>();
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (/^\/assets\/.*\.(?:js|css)$/.test(pathname)) loaded.add(pathname);
    });
    const answer = await page.goto(`${url}${address}`);
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    await settled(page);
    const html = (await answer?.text()) ?? '';
    expect(loaded.size, address).toBeGreaterThan(5);
    expect([...loaded].filter((file) => !html.includes(`"${file}"`))).toEqual([]);
    await page.close();
  }
});

test('opening a chat makes as many requests for 24 spawned workers as for 3', async () => {
  const made: number[] = [];
  for (const count of [3, 24]) {
    const id = await spawned(count);
    const page = await visit('about:blank');
    const seen = watch(page);
    await page.goto(`${platform().url}/contexts/${id}`);
    await page.getByRole('article', { name: 'Answer' }).getByText('all done').waitFor();
    await links(page).last().waitFor();
    await settled(page);
    expect(seen.filter((path) => /\/tools\/|^\/api\/workers\/[^?/]+$/.test(path)).length, seen.join('\n')).toBeLessThan(
      2,
    );
    // What is polled counts once: how often depends on the time that the page takes.
    made.push(new Set(seen).size);
    await page.close();
  }
  const [few = 0, many = 0] = made;
  expect(many).toBeLessThanOrEqual(few + 3);
});

test('a chat in which workers are spawned makes no request for each of them', async () => {
  const { client, url } = platform();
  const { context } = await openContext(client, 'live', [], { tools: ['spawn_worker'] });
  const page = await visit(`${url}/contexts/${context.id}`);
  await page
    .getByRole('textbox', { name: /message/i })
    .first()
    .waitFor();
  await settled(page);
  const seen = watch(page);
  const calls = Array.from({ length: 24 }, (_, at) => `call: spawn_worker {"input": "say: read", "name": "w${at}"}`);
  await client.contexts.send(context.id, `${calls.join('\n')}\n---\nsay: all done`);
  await page.getByRole('article', { name: 'Answer' }).getByText('all done').waitFor();
  await links(page).last().waitFor();
  expect(seen.filter((path) => /\/tools\/|\/messages\/[^?]/.test(path))).toEqual([]);
});

const PAGES = depth(
  ['/jobs', '/overview'],
  [
    '/',
    '/jobs',
    '/inbox',
    '/schedules',
    '/overview',
    '/operations',
    '/operations?tab=processes',
    '/search',
    '/access',
    '/settings',
    '/settings?tab=webhooks',
    '/settings?tab=usage',
  ],
);

/** An idle page makes at most twelve requests in a minute, which is looked at for a part of one. */
const [LOOKED_AT_S, MOST] = depth([20, 4], [60, 12]);

/** Until no page has made a request for two seconds; a page that polls faster than that ends it later. */
async function untilQuiet(page: Page, seen: readonly string[][]): Promise<void> {
  const count = (): number => seen.reduce((sum, { length }) => sum + length, 0);
  for (let before = -1, round = 0; before !== count() && round < 30; round += 1) {
    before = count();
    await page.waitForTimeout(2_000);
  }
}

test('no page polls while nothing happens, and each tells what another client did', async () => {
  const { client, url } = platform();
  const { context, jobs } = await openContext(client, 'quiet', ['say: hello']);
  const [job = ''] = jobs;
  await client.jobs.wait(job);
  const ofJob = [`/jobs/${job}`, `/jobs/${job}?tab=timeline`, `/jobs/${job}?tab=logs`];
  const paths = [...PAGES, `/contexts/${context.id}`, ...ofJob, `/workers/${context.worker_id}/tree`];
  const list = await visit(`${url}/healthz`, { stoppable: true });
  const open: { path: string; page: Page }[] = [];
  for (const path of paths) {
    const page = path === '/jobs' ? list : await list.context().newPage();
    await page.goto(`${url}${path}`);
    await page.getByRole('main').waitFor();
    await settled(page);
    open.push({ path, page });
  }
  const counts = open.map(({ path, page }) => ({ path, seen: watch(page) }));
  // What was told about the job has been read by then.
  await untilQuiet(
    list,
    counts.map(({ seen }) => seen),
  );
  for (const { seen } of counts) seen.length = 0;
  await list.waitForTimeout(LOOKED_AT_S * 1_000);
  for (const { path, seen } of counts) expect(seen.length, `${path}:\n${seen.join('\n')}`).toBeLessThanOrEqual(MOST);
  await stopPolling(list);
  const { job_id: newest } = await client.contexts.send(context.id, 'say: from another client');
  await list.getByRole('link', { name: `Job ${newest.slice(-6)}` }).waitFor();
});

test('the list of jobs reads one page at each refresh, however many are shown', async () => {
  const { client, url } = platform();
  const { context } = await openContext(client, 'many jobs', []);
  const queued = Array.from({ length: 120 }, (_, at) => `say: job ${at}`);
  const ids: string[] = [];
  for (const input of queued) ids.push((await client.contexts.send(context.id, input)).job_id);
  const page = await visit(`${url}/jobs?context_id=${context.id}`);
  /** With the header. Only the rows around those that are seen are in the document. */
  const hasRows = (count: number) =>
    expect.poll(() => page.getByRole('table').getAttribute('aria-rowcount')).toBe(String(count + 1));
  const link = (id: string | undefined) => page.getByRole('link', { name: `Job ${id?.slice(-6)}` });
  const scrollTo = async (id: string | undefined, by: number): Promise<void> => {
    await page.getByRole('table').hover();
    await expect
      .poll(async () => {
        await page.mouse.wheel(0, by);
        return link(id).count();
      })
      .toBe(1);
    await link(id).scrollIntoViewIfNeeded();
  };
  await link(ids.at(-1)).waitFor();
  for (const shown of [50, 100]) {
    await hasRows(shown);
    await page.getByRole('button', { name: 'Show more' }).click();
  }
  await hasRows(120);
  await settled(page);
  const cursors: (string | null)[] = [];
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname === '/api/jobs') cursors.push(searchParams.get('cursor'));
  });
  /** Something else changes in the tenant until the list was read so often. */
  const nextCursors = async (count: number): Promise<(string | null)[]> => {
    cursors.length = 0;
    const elsewhere = await client.contexts.create({ title: 'elsewhere' });
    await expect
      .poll(
        async () => {
          await client.contexts.update(elsewhere.id, { title: `elsewhere, after ${cursors.length}` });
          return cursors.length;
        },
        { timeout: 30_000 },
      )
      .toBeGreaterThanOrEqual(count);
    return cursors.slice();
  };
  // The user is at the end, where the last page is read again; at the start it is the first one.
  await scrollTo(ids[0], 5_000);
  const atEnd = new Set(await nextCursors(3));
  expect([atEnd.size, atEnd.has(null)]).toEqual([1, false]);
  await scrollTo(ids.at(-1), -5_000);
  expect(new Set(await nextCursors(3))).toEqual(new Set([null]));
  // A new job appears at the start, and no job is lost.
  const { job_id: newest } = await client.contexts.send(context.id, 'say: the newest');
  await page.getByRole('heading', { name: 'Jobs' }).hover();
  await link(newest).waitFor();
  await hasRows(121);
});

describe('a page that was read again', () => {
  const page = (ids: string, next_cursor: string | null) => ({
    data: ids.split('').map((id) => ({ id })),
    next_cursor,
  });
  /** Newest first: z is newer than a. */
  const list = { pages: [page('zyx', 'c1'), page('wvu', 'c2'), page('ts', null)], pageParams: [undefined, 'c1', 'c2'] };
  const idsOf = (found: ReturnType<typeof withFreshPage>) =>
    found?.pages.map(({ data }) => data.map(({ id }) => id).join('')) ?? null;

  unitTest('as the first one keeps what new items pushed off it', () => {
    const found = withFreshPage(list, undefined, page('~zy', 'c0'));
    expect([idsOf(found), found?.pages[0]?.next_cursor]).toEqual([['~zyx', 'wvu', 'ts'], 'c1']);
  });

  unitTest('as the first one loses what is gone, and takes nothing that another page has', () => {
    expect(idsOf(withFreshPage(list, undefined, page('zxw', 'c0')))).toEqual(['zx', 'wvu', 'ts']);
  });

  unitTest('as a later one takes its place, and the last one tells whether there is more', () => {
    expect(idsOf(withFreshPage(list, 'c1', page('wut', 'c3')))).toEqual(['zyx', 'wu', 'ts']);
    expect(withFreshPage(list, 'c2', page('ts', 'c9'))?.pages.at(-1)?.next_cursor).toBe('c9');
  });

  unitTest('and is alone replaces the list', () => {
    const alone = { pages: [page('zyx', 'c1')], pageParams: [undefined] };
    expect(idsOf(withFreshPage(alone, undefined, page('~zy', 'c0')))).toEqual(['~zy']);
  });

  unitTest('asks for the whole list where items may be missing between it and the others', () => {
    expect(withFreshPage(list, undefined, page('321', 'c0'))).toBeNull();
    expect(withFreshPage(list, undefined, page('', null))).toBeNull();
    expect(withFreshPage(list, 'unknown', page('wvu', 'c2'))).toBeNull();
  });

  unitTest('is the page of the item that is looked at', () => {
    expect(['x', 'v', 's', 'a', null].map((id) => cursorOfPageWith(list, id))).toEqual([
      undefined,
      'c1',
      'c2',
      undefined,
      undefined,
    ]);
  });
});

describe('the first page of a list by activity', () => {
  /** Items by activity: `z5` was active after `a4`. */
  const page = (items: string, next_cursor: string | null) => ({
    data: items
      .split(' ')
      .filter((item) => item !== '')
      .map((item) => ({ id: item.charAt(0), updated_at: item.slice(1) })),
    next_cursor,
  });
  const list = { pages: [page('z9 y8', 'c1'), page('x7 w6', null)], pageParams: [undefined, 'c1'] };
  const shown = (found: ReturnType<typeof withFreshTop>) =>
    found?.pages.map(({ data }) => data.map(({ id }) => id).join('')) ?? null;

  unitTest('takes what became active from the other pages, and keeps what that pushed off', () => {
    expect(shown(withFreshTop(list, page('w91 z9', 'c0')))).toEqual(['wzy', 'x']);
  });

  unitTest('loses what is gone', () => {
    expect(shown(withFreshTop(list, page('y8 x7', 'c0')))).toEqual(['yx', 'w']);
  });

  unitTest('asks for the whole list where items may be missing, and replaces a list of one page', () => {
    expect(withFreshTop(list, page('c99 b98', 'c0'))).toBeNull();
    expect(withFreshTop(list, page('', null))).toBeNull();
    const alone = { pages: [page('z9 y8', 'c1')], pageParams: [undefined] };
    expect(shown(withFreshTop(alone, page('c99 b98', 'c0')))).toEqual(['cb']);
  });
});
