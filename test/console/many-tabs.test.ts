// Many tabs of one browser, over HTTP/1.1: six connections for all of them together. Four streams at most, none for
// hidden tabs, and every tab works; sent inputs are seen at once.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { browserTest as test, useBrowser } from './rig/browser.ts';
import { partial, answer } from './rig/conversation.ts';
import { depth } from '../services/depth.ts';
import { useTenant } from './rig/platform.ts';
import { field, send } from './rig/writing.ts';

const platform = useTenant('many-tabs');
const { visit } = useBrowser(platform);

/** As many streams as there are connections, if nothing limited them. At full depth more. */
const TABS = depth(6, 8);
/** These stay visible. */
const SEEN = 2;
/** One tab has the stream of the tenant, for all. */
const OF_TENANT = 1;

/** As browsers report a hidden page. */
async function setSeen(page: Page, state: 'visible' | 'hidden'): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => '${state}' });
    document.dispatchEvent(new Event('visibilitychange'));
  `);
}

/** Streams that the pages of a browser have open. */
function countStreams(page: Page): () => number {
  const open = new Set<unknown>();
  const context = page.context();
  context.on('request', (request) => {
    if (/\/api\/(contexts\/[^/]+\/)?events/.test(request.url())) open.add(request);
  });
  context.on('requestfailed', (request) => void open.delete(request));
  context.on('requestfinished', (request) => void open.delete(request));
  return () => open.size;
}

test('many tabs work beside each other, each with its own events', async () => {
  const { client, url } = platform();
  const first = await visit(`${url}/healthz`);
  const streams = countStreams(first);
  const tabs: { page: Page; id: string }[] = [];
  for (let at = 0; at < TABS; at += 1) {
    const { id } = await client.contexts.create({ title: `tab ${at}`, config: { model: 'simulated/test' } });
    const page = at === 0 ? first : await first.context().newPage();
    await page.goto(`${url}/contexts/${id}`);
    await field(page).waitFor();
    tabs.push({ page, id });
  }
  await expect.poll(streams).toBe(4);
  for (const [at, { page }] of tabs.entries()) await send(page, `say: answer of tab ${at}`);
  for (const [at, { page }] of tabs.entries()) await answer(page, `answer of tab ${at}`).waitFor();
  // Also actions of another client in it.
  for (const { id } of tabs) await client.contexts.send(id, 'say: from elsewhere');
  for (const { page } of tabs) await answer(page, 'from elsewhere').waitFor();
  expect(streams()).toBe(4);

  // Hidden tabs make room for visible ones.
  for (const { page } of tabs.slice(0, -SEEN)) await setSeen(page, 'hidden');
  await expect.poll(streams).toBe(SEEN + OF_TENANT);
  const { page: last, id } = tabs.at(-1) ?? { page: first, id: '' };
  await client.contexts.send(id, 'tokens: 20000 over 600s');
  await partial(last).waitFor();
  // Messages sent meanwhile are there once a tab is visible again.
  await client.contexts.send(tabs[0]?.id ?? '', 'say: while the tab was hidden');
  await client.contexts.run(tabs[0]?.id ?? '', { input: 'say: and more' });
  await setSeen(first, 'visible');
  await answer(first, 'while the tab was hidden').waitFor();
  await expect.poll(streams).toBe(SEEN + 1 + OF_TENANT);
  await client.contexts.interrupt(id);
});

test('a sent input is seen at once, with its state', async () => {
  const { client, url } = platform();
  const { id } = await client.contexts.create({ title: 'slow', config: { model: 'simulated/test' } });
  const page = await visit(`${url}/contexts/${id}`);
  await field(page).waitFor();
  const sent = page.getByRole('article', { name: 'Being sent' });
  const delayed = Promise.withResolvers<void>();
  await page.route('**/api/contexts/*/messages', async (route) => {
    if (route.request().method() === 'POST') await delayed.promise;
    await route.continue();
  });
  await send(page, 'say: received');
  await sent.getByText('say: received').waitFor();
  await sent.getByText('Sending …').waitFor();
  expect(await field(page).inputValue()).toBe('');
  delayed.resolve();
  await page.getByRole('article', { name: 'Input' }).getByText('say: received').waitFor();
  await sent.waitFor({ state: 'detached' });
  await answer(page, 'received').waitFor();
});
