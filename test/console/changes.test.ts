// The stream of the tenant that all tabs of a browser share: one of them holds it, another one takes over, and without it
// lists are polled.
import type { BrowserContext, Page, Request } from 'playwright-core';
import { expect } from 'vitest';
import { browserTest as test, settled, useBrowser } from './rig/browser.ts';
import { useTenant } from './rig/platform.ts';

const platform = useTenant('changes');
const { visit, excuse } = useBrowser(platform);

/** Open streams of the tenant, of all pages of a browser. */
function countStreams(browser: BrowserContext): () => number {
  const open = new Set<Request>();
  browser.on('request', (request) => {
    if (new URL(request.url()).pathname === '/api/events') open.add(request);
  });
  browser.on('requestfailed', (request) => void open.delete(request));
  browser.on('requestfinished', (request) => void open.delete(request));
  // The end of a request is not reported where its page was closed.
  return () => [...open].filter((request) => !request.frame().page().isClosed()).length;
}

async function openJobs(browser: BrowserContext): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(`${platform().url}/jobs`);
  await page.getByRole('main').waitFor();
  await settled(page);
  return page;
}

/** A job of another client is in the list well before a poll would find it. */
async function showsNext(page: Page): Promise<void> {
  const { client } = platform();
  const { id } = await client.contexts.create({ config: { model: 'simulated/test' } });
  const { job_id: job } = await client.contexts.send(id, 'say: from another client');
  await page.getByRole('link', { name: `Job ${job.slice(-6)}` }).waitFor({ timeout: 20_000 });
}

test('one tab holds the stream for all, and another one takes over when it is closed', async () => {
  const first = await visit(`${platform().url}/healthz`);
  const browser = first.context();
  const streams = countStreams(browser);
  const [one, two] = [await openJobs(browser), await openJobs(browser)];
  await expect.poll(streams).toBe(1);
  await showsNext(one);
  await showsNext(two);
  await one.close();
  await expect.poll(streams).toBe(1);
  await showsNext(two);
  expect(streams()).toBe(1);
});

test('without the stream lists are polled, in all tabs, and with it no longer', async () => {
  const first = await visit(`${platform().url}/healthz`);
  const browser = first.context();
  excuse(/Failed to load resource: net::ERR_FAILED .*\/api\/events/);
  let isRefused = true;
  await browser.route('**/api/events', async (route) => (isRefused ? route.abort() : route.continue()));
  const [one, two] = [await openJobs(browser), await openJobs(browser)];
  await showsNext(one);
  await showsNext(two);
  isRefused = false;
  const streams = countStreams(browser);
  await expect.poll(streams, { timeout: 60_000 }).toBe(1);
  await showsNext(two);
});
