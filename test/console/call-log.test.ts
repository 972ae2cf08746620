// What a tool reports, beside its call: in the chat and in the timeline, while it runs and afterwards.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { browserTest as test, expectAccessible, useBrowser } from './rig/browser.ts';
import { useTenant } from './rig/platform.ts';

const platform = useTenant('call-log');
const { visit } = useBrowser(platform);

const log = (page: Page, name: string) => page.getByRole('region', { name });

async function expectLog(page: Page, name: string): Promise<void> {
  await log(page, name).getByText('no tape is left').waitFor();
  const entries = await log(page, name).getByRole('listitem').allInnerTexts();
  expect(entries.map((text) => text.replaceAll(/\s+/g, ' ').replace(/^\S+ /, ''))).toEqual([
    'debug looking for a box',
    'info weighing {"order":"A-17","kilograms":2.5}',
    'warn the scale is not level',
    'error no tape is left {"shelf":3}',
  ]);
}

test('the progress and the log of a call are shown while it runs, and the log afterwards', async () => {
  const { client, url } = platform();
  const { context_id } = await client.workers.create({
    name: 'depot',
    config: { model: 'simulated/depot', tools: ['pack'] },
  });
  const { job_id } = await client.contexts.send(context_id, 'call: pack {}\n---\nsay: packed');
  const page = await visit(`${url}/contexts/${context_id}`);
  const card = page.getByRole('region', { name: 'Tool pack' });
  await card.getByText('packing · 2 of 5').waitFor();
  expect(await card.getByRole('progressbar').getAttribute('value')).toBe('2');
  await card.getByText('Running', { exact: true }).waitFor();
  await card.getByRole('button', { name: 'pack' }).click();
  await expectLog(page, 'Log');
  await expectAccessible(page);

  const timeline = await visit(`${url}/jobs/${job_id}?tab=timeline`);
  await timeline.getByRole('list', { name: 'Steps' }).getByRole('button', { name: 'pack' }).click();
  await timeline.getByText('packing · 2 of 5').waitFor();
  await expectLog(timeline, 'Log of the tool');
  await expectAccessible(timeline);

  await client.jobs.cancel(job_id, {});
  await client.jobs.wait(job_id);
  await card.getByText('packing · 2 of 5').waitFor({ state: 'hidden' });
  await expectLog(page, 'Log');
});
