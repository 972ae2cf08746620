// Usage: what a tenant uses of its limits, as text and as bars, and how close it is.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { createClient } from '../../src/client/index.ts';
import { LOOKS, browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { useTenant } from './rig/platform.ts';
import { signIn } from './rig/sign-in.ts';
import { ADMIN_KEY } from './rig/tenants.ts';

const platform = useTenant('usage');
const { visit } = useBrowser(platform);

const item = (page: Page, name: string) =>
  page.getByRole('list', { name: 'Usage' }).getByRole('listitem', { name, exact: true });

test('without limits, says what that means; the tab needs the scope read', async () => {
  const { client, url } = platform();
  const page = await visit(`${url}/settings?tab=usage`);
  await page.getByText('This tenant has no limits').waitFor();
  await item(page, 'Workers').getByText('0, no limit').waitFor();
  await expectAccessible(page);
  const { key } = await client.keys.create({ name: 'of keys', scopes: ['keys'] });
  // A page that asks for nothing, which the next session would answer with an error.
  await page.goto(`${url}/healthz`);
  await page.context().addCookies([await signIn(url, key)]);
  await page.goto(`${url}/settings?tab=usage`);
  await page.getByRole('tab', { name: 'This browser' }).waitFor();
  expect(await page.getByRole('tab', { name: 'Usage' }).count()).toBe(0);
});

for (const { theme, size } of LOOKS) {
  test(`limits that are near, reached and exceeded: ${theme}, ${size}`, async () => {
    const { client, url } = platform();
    const operator = createClient({ url, apiKey: ADMIN_KEY });
    const existing = (await client.workers.list().page()).data.length;
    for (let made = existing; made < 4; made += 1) await client.workers.create({ name: `worker ${made}` });
    const show = (workers: number) =>
      operator.tenants.update('usage', {
        limits: { workers, queued_jobs: 10, stored_mb: 50, upload_mb: 20, requests_per_s: 1_000 },
      });
    await show(5);
    const page = await visit(`${url}/settings?tab=usage`, { theme, size });
    await item(page, 'Workers').getByText('Near the limit').waitFor();
    await item(page, 'Workers').getByText('4 / 5').waitFor();
    expect(await item(page, 'Queued jobs').innerText()).toMatch(/^Queued jobs\s+0 \/ 10\s+Queued and delayed/);
    await item(page, 'Stored content').getByText('0 / 50 MB').waitFor();
    await item(page, 'Upload size').getByText('limit 20 MB').waitFor();
    await item(page, 'Requests per second').getByText('limit 1,000').waitFor();
    await item(page, 'Event streams')
      .getByText(/no limit$/)
      .waitFor();
    await expectAccessible(page);
    await expectFits(page);
    for (const [limit, mark] of [
      [4, 'At the limit'],
      [3, 'Above the limit'],
    ] as const) {
      await show(limit);
      // The API may use the former limits for half a second, and the page reads them again after 15 seconds.
      const reloaded = async () => {
        await page.reload();
        return item(page, 'Workers').innerText();
      };
      await expect.poll(reloaded).toContain(mark);
      const meter = page.getByRole('meter', { name: 'Workers' });
      expect(await meter.getAttribute('aria-valuetext')).toBe(`4 of ${limit}`);
    }
    await expectAccessible(page);
    await operator.tenants.update('usage', {
      limits: { workers: null, queued_jobs: null, stored_mb: null, upload_mb: null, requests_per_s: null },
    });
  });
}
