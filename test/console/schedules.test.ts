// The page of schedules: what each does next, its last run, its actions, and the form that makes and changes one.
import { expect } from 'vitest';
import { LOOKS, browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { useTenant } from './rig/platform.ts';
import { openContext } from './rig/scenes.ts';

const platform = useTenant('schedules');
const { visit, excuse } = useBrowser(platform);

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

test('a schedule is made by a cron expression; what is wrong is said at its field', async () => {
  excuse(/422/);
  const { client, url } = platform();
  await client.roles.put('writer', { model: 'simulated/a' });
  const page = await visit(`${url}/schedules`);
  await page.getByRole('button', { name: 'New schedule' }).click();
  const dialog = page.getByRole('dialog', { name: 'New schedule' });
  const create = dialog.getByRole('button', { name: 'Create schedule' });
  expect(await create.isDisabled()).toBe(true);
  await dialog.getByLabel('Name', { exact: true }).fill('weekly letter');
  await dialog.getByLabel('Cron expression').fill('0 9 * * 9');
  const zone = dialog.getByRole('combobox', { name: 'Time zone' });
  expect(await zone.inputValue()).not.toBe('');
  const zones = page.locator(`datalist[id="${await zone.getAttribute('list')}"] option`);
  expect(await zones.evaluateAll((all) => all.map((one) => one.getAttribute('value')))).toContain('Europe/Berlin');
  await zone.fill('Europe/Berlin');
  await dialog.getByLabel('Name of the worker').fill('writer of letters');
  await dialog.getByRole('combobox', { name: 'Role' }).click();
  await page.getByRole('option', { name: 'writer', exact: true }).click();
  await dialog.getByLabel('User').fill('alice');
  await dialog.getByLabel('Input').fill('say: the letter');
  await dialog.getByRole('combobox', { name: 'If the last job is unfinished' }).click();
  await page.getByRole('option', { name: 'Do not post' }).click();
  await dialog.getByRole('combobox', { name: 'Missed runs' }).click();
  await page.getByRole('option', { name: 'Do not run' }).click();
  await dialog.getByLabel('Random delay in seconds').fill('soon');
  await dialog.getByText('Enter a whole number of seconds.').waitFor();
  expect(await create.isDisabled()).toBe(true);
  await dialog.getByLabel('Random delay in seconds').fill('30');
  await create.click();
  await dialog.getByText('cron is not valid').waitFor();
  expect(await dialog.getByLabel('Cron expression').getAttribute('aria-invalid')).toBe('true');
  await expectAccessible(page);
  await dialog.getByLabel('Cron expression').fill('0 9 * * MON');
  await create.click();
  const item = page.getByRole('listitem', { name: 'weekly letter' });
  await item.getByText('0 9 * * MON (Europe/Berlin)').waitFor();
  const made = (await client.schedules.list().all()).find(({ name }) => name === 'weekly letter');
  expect(made).toMatchObject({
    cron: '0 9 * * MON',
    timezone: 'Europe/Berlin',
    target: { worker: { name: 'writer of letters', role: 'writer' } },
    content: 'say: the letter',
    user: 'alice',
    overlap: 'skip',
    catch_up: 'none',
    jitter_s: 30,
  });
});

test('a schedule is edited, and only what changed is stored: its next run stays', async () => {
  const { client, url } = platform();
  const { context } = await openContext(client, 'the archive', []);
  const worker = { name: 'keeper', config: { model: 'simulated/a' } };
  const made = await client.schedules.create({
    name: 'tidy up',
    every_s: 7_200,
    target: { worker },
    content: 'say: a',
  });
  const page = await visit(`${url}/schedules`);
  const edit = async () => {
    await page.getByRole('button', { name: 'Edit tidy up' }).click();
    return page.getByRole('dialog', { name: 'Edit schedule tidy up' });
  };
  const save = async () => {
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  const item = page.getByRole('listitem', { name: 'tidy up' });
  await item.getByText('every 2 hours').waitFor();
  const dialog = await edit();
  expect(await dialog.getByLabel('Every').inputValue()).toBe('2');
  await dialog.getByLabel('Input').fill('say: b');
  await save();
  const renamed = await client.schedules.get(made.id);
  expect(renamed).toMatchObject({ content: 'say: b', next_run_at: made.next_run_at, target: { worker } });

  await edit();
  await dialog.getByRole('button', { name: 'One context' }).click();
  await dialog.getByRole('combobox', { name: 'Context' }).fill(context.id);
  await dialog.getByRole('paragraph').filter({ hasText: 'the archive' }).waitFor();
  await dialog.getByLabel('Every').fill('90');
  await dialog.getByRole('combobox', { name: 'Unit of the interval' }).click();
  await page.getByRole('option', { name: 'minutes' }).click();
  await save();
  expect(await client.schedules.get(made.id)).toMatchObject({ every_s: 5_400, target: { context_id: context.id } });
  await item.getByText('every 90 minutes').waitFor();

  await edit();
  await dialog.getByRole('button', { name: 'Once' }).click();
  await dialog.getByLabel('At', { exact: true }).fill('2099-01-31T09:30');
  await save();
  const { every_s: everyS, at } = await client.schedules.get(made.id);
  expect([everyS, new Date(at ?? 0)]).toEqual([null, new Date(2099, 0, 31, 9, 30)]);
  await client.schedules.delete(made.id);
});

for (const { theme, size } of LOOKS) {
  test(`the form of a schedule is accessible, and fits: ${theme}, ${size}`, async () => {
    const page = await visit(`${platform().url}/schedules`, { theme, size });
    await page.getByRole('button', { name: 'New schedule' }).click();
    const dialog = page.getByRole('dialog');
    for (const kind of ['Interval', 'Once', 'One context', 'Cron expression']) {
      await dialog.getByRole('button', { name: kind }).click();
      await expectAccessible(page);
      await expectFits(page);
    }
  });
}
