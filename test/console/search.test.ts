// Search finds messages, shows them as plain text, and opens them in their conversation.
import { expect } from 'vitest';
import { LOOKS, browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { until } from '../e2e/rig/until.ts';
import { useTenant } from './rig/platform.ts';
import { openContext } from './rig/scenes.ts';

const platform = useTenant('search');
const { visit } = useBrowser(platform);

test('it finds text, filters, and opens the conversation at the message', async () => {
  const { client, url } = platform();
  const script = 'say: the zebra ate <img src=x onerror=alert(1)> in the garden';
  const { context, jobs } = await openContext(client, 'the zoo', [script]);
  await client.jobs.wait(jobs[0] ?? '');
  const find = async () => (await client.search({ q: 'zebra' }).page()).data;
  await until('both to be found', async () => (await find()).length === 2);
  const page = await visit(`${url}/search`);
  await page.getByText('Enter a search term').waitFor();
  await page.getByRole('searchbox').fill('zebra');
  const results = page.getByRole('list', { name: 'Results' }).getByRole('link');
  await results.nth(1).waitFor();
  await page.waitForURL('**/search?q=zebra');
  await page.getByLabel('Message type').click();
  await page.getByRole('option', { name: 'Answers', exact: true }).click();
  await results.nth(1).waitFor({ state: 'detached' });
  expect(await results.first().locator('mark').allTextContents()).toEqual(['zebra']);
  expect(await results.first().locator('img').count()).toBe(0);
  const answer = (await find()).find(({ role }) => role === 'assistant');
  await results.first().click();
  await page.waitForURL(`**/contexts/${context.id}?message=${answer?.message_id}`);
  // An address changes before its page does, and each of the two has a search field.
  await page.getByRole('heading', { level: 1, name: 'the zoo' }).waitFor();
  await page.goBack();
  await results.first().waitFor();
  await page.getByRole('searchbox', { name: 'Search all messages' }).fill('unicorn');
  await page.getByText('No results').waitFor();
  await expectAccessible(page);
});

for (const { theme, size } of LOOKS) {
  test(`it is accessible with results, and fits: ${theme}, ${size}`, async () => {
    const page = await visit(`${platform().url}/search?q=zebra`, { theme, size });
    await page.locator('mark').first().waitFor();
    await expectAccessible(page);
    await expectFits(page);
  });
}
