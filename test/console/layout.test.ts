// The layout: the sidebar collapses, wide screens are used, and tables fit a phone.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { useTenant } from './rig/platform.ts';
import { openContext } from './rig/scenes.ts';

const platform = useTenant('layout');
const { visit } = useBrowser(platform);

const navigation = (page: Page) => page.getByRole('navigation', { name: 'Main' });
const widthOf = async (page: Page, selector: string): Promise<number> =>
  page.evaluate<number>(`document.querySelector('${selector}').getBoundingClientRect().width`);

test('the sidebar collapses by its button and by a key, is remembered, and names its icons', async () => {
  const { url } = platform();
  const page = await visit(`${url}/jobs`);
  await navigation(page).getByText('Nightshift').waitFor();
  expect(await widthOf(page, 'nav')).toBeGreaterThan(200);
  await page.getByRole('button', { name: 'Collapse the sidebar' }).click();
  const expand = page.getByRole('button', { name: 'Expand the sidebar' });
  await expand.and(page.locator(':focus')).waitFor();
  expect(await widthOf(page, 'nav')).toBeLessThan(60);
  await expectAccessible(page);
  await navigation(page).getByRole('link', { name: 'Schedules' }).hover();
  await page.getByRole('tooltip', { name: 'Schedules' }).waitFor();
  await navigation(page).getByRole('link', { name: 'Schedules' }).click();
  await page.getByRole('heading', { level: 1, name: 'Schedules' }).waitFor();
  await page.reload();
  await expand.waitFor();
  await page.getByRole('heading', { level: 1, name: 'Schedules' }).waitFor();
  await page.locator('body').press('b');
  await page.getByRole('button', { name: 'Collapse the sidebar' }).waitFor();
  expect(await widthOf(page, 'nav')).toBeGreaterThan(200);
  // A phone has it at the bottom, with its names.
  await page.locator('body').press('b');
  await page.setViewportSize({ width: 390, height: 844 });
  await navigation(page).getByText('Schedules').click({ trial: true });
});

test('wide screens show more, and the text of a chat stays readable', async () => {
  const { client, url } = platform();
  const { context, jobs } = await openContext(client, 'a long answer', [`say: ${'word '.repeat(600)}`]);
  await client.jobs.wait(jobs[0] ?? '');
  const page = await visit(`${url}/jobs`);
  for (const { width, table, list } of [
    { width: 1_600, table: 1_300, list: 320 },
    { width: 2_560, table: 2_200, list: 440 },
  ]) {
    await page.setViewportSize({ width, height: 1_000 });
    await page.goto(`${url}/jobs`);
    await page.getByRole('table').waitFor();
    expect(await widthOf(page, 'table'), `jobs at ${width}`).toBeGreaterThan(table);
    await page.goto(`${url}/contexts/${context.id}`);
    await page.getByRole('article', { name: 'Answer' }).waitFor();
    // About a hundred characters.
    expect(await widthOf(page, 'article[aria-label="Answer"]'), `text at ${width}`).toBeLessThan(1_000);
    expect(await widthOf(page, 'section[aria-label="Contexts"]'), `list at ${width}`).toBeGreaterThanOrEqual(list);
    await expectFits(page);
  }
});

test('on a phone a table is a list of rows, which does not scroll sideways', async () => {
  const { client, url } = platform();
  const { jobs } = await openContext(client, 'steps', ['call: look_up {"word": "moon"}\n---\nsay: found']);
  await client.jobs.wait(jobs[0] ?? '');
  const page = await visit(`${url}/jobs/${jobs[0]}?tab=timeline`, { size: 'phone', theme: 'dark' });
  await page.getByRole('tab', { name: 'Table' }).click();
  const list = page.getByRole('list', { name: 'Steps' });
  await list.getByText('Start offset').first().waitFor();
  expect(await page.getByRole('table').count()).toBe(0);
  await expectFits(page);
  await expectAccessible(page);
  const [inner, outer] = await list.evaluate(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth] as const);
  expect(inner).toBeLessThanOrEqual(outer);
});
