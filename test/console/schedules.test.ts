// The page of schedules: what each does next, its last run, and its actions.
import { expect } from 'vitest';
import { LOOKS, browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { useTenant } from './rig/platform.ts';
import { openContext } from './rig/scenes.ts';

const platform = useTenant('schedules');
const { visit } = useBrowser(platform);

test('a schedule is run, paused, resumed and deleted, and shows its runs', async () => {
  const { client, url } = platform();
  const page = await visit(`${url}/schedules`);
  await page.getByText('No schedules yet').waitFor();
  const { context } = await openContext(client, 'reports', []);
  const made = await client.schedules.create({
    name: 'morning report',
    cron: '0 9 * * MON-FRI',
    timezone: 'Europe/Berlin',
    target: { context_id: context.id },
    content: 'say: the report',
  });
  await page.reload();
  const item = page.getByRole('listitem', { name: 'morning report' });
  await item.getByText('0 9 * * MON-FRI (Europe/Berlin)').waitFor();
  await item.getByRole('button', { name: 'Run now: morning report' }).click();
  await item.getByText('Started').waitFor();
  await item.getByRole('button', { name: 'Pause morning report' }).click();
  await item.getByText('Paused').waitFor();
  expect((await client.schedules.get(made.id)).paused).toBe(true);
  await item.getByRole('button', { name: 'Resume morning report' }).click();
  await item.getByRole('button', { name: 'Pause morning report' }).waitFor();
  await item.getByRole('button', { name: 'Runs of morning report' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Run by hand').waitFor();
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await item.getByRole('link', { name: /^Job / }).click();
  await page.waitForURL('**/jobs/*');
  await page.goBack();
  await item.getByRole('button', { name: 'Delete morning report' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No schedules yet').waitFor();
  expect(await client.schedules.list().all()).toEqual([]);
});

for (const look of LOOKS) {
  test(`it is accessible and fits: ${JSON.stringify(look)}`, async () => {
    const { client, url } = platform();
    const name = `a schedule with a long name ${'and more '.repeat(8)}`;
    const target = { worker: { name: 'reporter' } };
    const { id } = await client.schedules.create({ name, every_s: 3_600, paused: true, content: 'say: x', target });
    const page = await visit(`${url}/schedules`, look);
    await page.getByText('Paused').first().waitFor();
    await expectAccessible(page);
    await expectFits(page);
    await client.schedules.delete(id);
  });
}
