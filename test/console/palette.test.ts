// The command palette: pages, actions and contexts by typing, from any page and from a field.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { LOOKS, browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { useOwnPlatform } from './rig/platform.ts';
import { openContext } from './rig/scenes.ts';

const { visit } = useBrowser();
const platform = useOwnPlatform();

const palette = (page: Page) => page.getByRole('dialog', { name: 'Commands' });
const option = (page: Page, name: string | RegExp) => palette(page).getByRole('option', { name });

async function open(page: Page, key = 'Control+k'): Promise<void> {
  await page.keyboard.press(key);
  await palette(page).getByRole('combobox').waitFor();
}

test('it goes to a page, by keys alone, also from a field and with the key of a Mac', async () => {
  const page = await visit(`${platform().url}/jobs`);
  await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
  await open(page);
  await page.keyboard.type('sched');
  await option(page, /^Schedules/).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Schedules' }).waitFor();
  await palette(page).waitFor({ state: 'detached' });
  await page.goto(`${platform().url}/search`);
  await page.getByRole('searchbox').first().focus();
  await open(page, 'Meta+k');
  await page.keyboard.press('Escape');
  await palette(page).waitFor({ state: 'detached' });
  await page.locator('input[type=search]:focus').first().waitFor();
});

test('it finds a context by its text, and a job by its id; other words search the messages', async () => {
  const { client, url } = platform();
  const { context, jobs } = await openContext(client, 'Quarterly figures', ['say: forty-two']);
  await client.jobs.wait(jobs[0] ?? '');
  const page = await visit(`${url}/jobs`);
  await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
  await open(page);
  await page.keyboard.type('quarterly');
  await option(page, /Quarterly figures/).click();
  await page.waitForURL(`${url}/contexts/${context.id}`);
  await page.getByRole('article', { name: 'Answer' }).getByText('forty-two').waitFor();
  await open(page);
  await page.keyboard.type(jobs[0] ?? '');
  await option(page, 'Open the job with this id').click();
  await page.waitForURL(`${url}/jobs/${jobs[0]}`);
  await open(page);
  await page.keyboard.type('forty two');
  await option(page, /^Search messages for/).click();
  await page.waitForURL(/\/search\?q=forty/);
});

test('what was found for an earlier text is not opened: Enter searches the messages meanwhile', async () => {
  const { client, url } = platform();
  await openContext(client, 'Most recent', ['say: hello']);
  const page = await visit(`${url}/jobs`);
  await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
  await open(page);
  await option(page, /Most recent/).waitFor();
  await page.keyboard.type('nowhere to be found');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/search\?q=nowhere/);
});

test('it does something', async () => {
  const page = await visit(`${platform().url}/jobs`);
  await page.getByRole('button', { name: /^Commands/ }).click();
  await palette(page).getByRole('combobox').waitFor();
  await page.keyboard.type('theme dark');
  await option(page, 'Theme: Dark').waitFor();
  await page.keyboard.press('Enter');
  await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('dark');
  await page.getByRole('button', { name: 'Theme' }).waitFor();
});

test('it does not open above another dialog', async () => {
  const page = await visit(`${platform().url}/jobs`);
  await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
  // Its code is loaded from here on.
  await open(page);
  await page.keyboard.press('Escape');
  await palette(page).waitFor({ state: 'detached' });
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor({ state: 'detached' });
  expect(await page.getByRole('dialog').count()).toBe(0);
});

for (const { theme, size } of LOOKS) {
  test(`it is accessible and fits: ${theme}, ${size}`, async () => {
    const page = await visit(`${platform().url}/jobs`, { theme, size });
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
    await open(page);
    await option(page, /^Settings/).waitFor();
    await expectAccessible(page);
    await expectFits(page);
  });
}
