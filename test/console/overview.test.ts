// The overview shows correct numbers, as plots and as tables.
import { expect } from 'vitest';
import { LOOKS, browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { useOwnPlatform } from './rig/platform.ts';
import { ENDLESS, openContext, waitingFor } from './rig/scenes.ts';

const { visit } = useBrowser();
const platform = useOwnPlatform();

test('it shows queued, running and waiting work, and ended jobs', async () => {
  const { client, url } = platform();
  const ended = await openContext(client, 'ended', ['say: one', 'say: two', 'fail: bad_request']);
  for (const id of ended.jobs) await client.jobs.wait(id);
  const busy = await openContext(client, 'busy', [ENDLESS, 'say: later']);
  await openContext(client, 'asks', ['ask: well?']);
  await waitingFor(client, 1);
  const page = await visit(`${url}/overview?span=1h`);
  for (const name of ['Queued: 1', 'Running: 1', 'Waiting: 1'])
    await page.getByRole('link', { name, exact: true }).waitFor();
  await page.getByText('3 in total, 33% failed').waitFor();
  await page.getByRole('button', { name: 'Show Finished jobs as table' }).click();
  const table = page.getByRole('region', { name: 'Finished jobs over time' });
  await table.getByRole('columnheader', { name: 'Completed' }).waitFor();
  const cells = await table.getByRole('cell').allTextContents();
  const sums = [1, 3].map((column) =>
    cells.reduce((sum, cell, at) => (at % 5 === column ? sum + Number(cell) : sum), 0),
  );
  expect(sums).toEqual([2, 1]);
  await client.jobs.cancelAll({ context_id: busy.context.id });
  await page.getByRole('link', { name: 'Running: 0', exact: true }).waitFor();
});

for (const { theme, size } of LOOKS) {
  test(`it is accessible with its plots, and fits: ${theme}, ${size}`, async () => {
    const page = await visit(`${platform().url}/overview?span=1h`, { theme, size });
    await page.locator('.recharts-surface').first().waitFor();
    await expectAccessible(page);
    await expectFits(page);
  });
}
