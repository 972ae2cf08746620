// The cost is shown wherever tokens are; without a known price there is none.
import { afterAll, describe, expect, test } from 'vitest';
import { addCosts, formatCost } from '../../web/src/ui/text/cost.ts';
import { startFakeProvider } from '../llm/fake-provider.ts';
import { browserTest, expectAccessible, useBrowser } from './rig/browser.ts';
import { useOwnPlatform } from './rig/platform.ts';
import { openContext } from './rig/scenes.ts';

describe('a cost', () => {
  test.each([
    ['0.00', '$0'],
    ['0.000000001', '$0.000000001'],
    ['0.0001', '$0.0001'],
    ['0.00012345', '$0.00012'],
    ['0.10', '$0.1'],
    ['0.995', '$0.99'],
    ['0.9999', '$1.00'],
    ['1.00', '$1.00'],
    ['12.345678901', '$12.35'],
  ])('of %s is shown as %s', (cost, shown) => {
    expect(formatCost(cost)).toBe(shown);
  });

  test('is summed exactly, and unknown costs add nothing', () => {
    expect(['0.10', null, '0.20', '0.000000001'].reduce(addCosts, null)).toBe('0.300000001');
    expect([null, null].reduce(addCosts, null)).toBeNull();
  });
});

/** Reads three quarters of each prompt from its cache. */
const provider = await startFakeProvider({
  text: 'From the cache.',
  usage: { input: 200, cacheRead: 900, cacheWrite: 100, output: 40 },
});
afterAll(() => provider.close());

const { visit } = useBrowser();
const platform = useOwnPlatform({ ANTHROPIC_API_KEY: 'test', ANTHROPIC_BASE_URL: provider.anthropicURL });

/** A job of a model that costs a tenth of a cent for each token. */
async function paid() {
  const { client } = platform();
  const { context, jobs } = await openContext(client, 'paid', ['call: look_up {"word": "owl"}\n---\nsay: a bird'], {
    model: 'simulated/priced',
  });
  const job = await client.jobs.wait(jobs[0] ?? '');
  const { input_tokens, output_tokens, cost } = job.usage;
  expect(job.status).toBe('completed');
  expect(Number(cost)).toBeCloseTo((input_tokens + output_tokens) / 1_000, 9);
  return { context, job, shown: formatCost(cost ?? '') };
}

browserTest('is shown at an answer, on the timeline and in the tree, to the last digit on hover', async () => {
  const { client, url } = platform();
  const { context, job, shown } = await paid();
  const page = await visit(`${url}/contexts/${context.id}`);
  const answers = (await client.contexts.messages.list(context.id).all()).filter(({ role }) => role === 'assistant');
  for (const { usage } of answers) {
    const cost = usage?.cost ?? null;
    if (cost === null) throw new Error('an answer has no cost');
    const row = page
      .getByRole('article', { name: 'Answer' })
      .getByTitle(new RegExp(`, \\$${cost.replace('.', '\\.')}$`));
    await row.first().waitFor();
    expect(await row.first().textContent()).toMatch(/ in · .* out · /);
    expect((await row.first().textContent())?.endsWith(` · ${formatCost(cost)}`)).toBe(true);
  }
  await page.goto(`${url}/jobs/${job.id}?tab=timeline`);
  await page.getByText(`· ${shown}`).first().waitFor();
  await page.getByRole('tab', { name: 'Table' }).click();
  const [first] = answers;
  await page
    .getByRole('row', { name: /simulated\/priced/ })
    .first()
    .getByText(`· ${formatCost(first?.usage?.cost ?? '')}`)
    .waitFor();
  await page.goto(`${url}/workers/${context.worker_id}/tree`);
  await page.getByText(new RegExp(`1 worker · .* · \\${shown}$`)).waitFor();
  await page.getByRole('treeitem').getByText(`· ${shown}`).waitFor();
});

browserTest('is summed up over time, and prices stand with the providers', async () => {
  const { client, url } = platform();
  await paid();
  const other = await openContext(client, 'unpriced beside it', ['say: the cost of this is unknown']);
  await client.jobs.wait(other.jobs[0] ?? '');
  const jobs = await client.jobs.list().all();
  const all = jobs.map(({ usage }) => usage.cost).reduce(addCosts, null);
  const page = await visit(`${url}/overview?span=1h`);
  await page.getByText(`${formatCost(all ?? '')} in total`).waitFor();
  await page.getByRole('button', { name: 'Show Cost as table' }).click();
  await page.getByRole('region', { name: 'Cost over time' }).getByRole('columnheader', { name: 'Cost' }).waitFor();
  await page.goto(`${url}/settings?tab=providers`);
  const price = page.getByRole('region', { name: 'Prices' }).getByRole('row', { name: /simulated\/priced/ });
  await price.waitFor();
  expect(await price.getByRole('cell').allTextContents()).toEqual([
    'simulated/priced',
    '$1000.00',
    '$1000.00',
    '$0.00',
    '$0.00',
  ]);
  await expectAccessible(page);
});

browserTest('is not shown where no price is known', async () => {
  const { client, url } = platform();
  const { context, jobs } = await openContext(client, 'unpriced', ['say: for nothing?']);
  await client.jobs.wait(jobs[0] ?? '');
  const page = await visit(`${url}/contexts/${context.id}`);
  const answer = page.getByRole('article', { name: 'Answer' });
  await answer.getByText(/ in · .* out/).waitFor();
  expect(await answer.textContent()).not.toContain('$');
});

browserTest('stands beside the share of the prompt that was read from the provider’s cache', async () => {
  const { client, url } = platform();
  const { context, jobs } = await openContext(client, 'cached', ['hello'], { model: 'anthropic/some-model' });
  const job = await client.jobs.wait(jobs[0] ?? '');
  expect(job.usage.cache_hit_ratio).toBe(0.75);
  const page = await visit(`${url}/contexts/${context.id}`);
  const shown = '1.2K in, 75% cached · 40 out';
  const answer = page.getByRole('article', { name: 'Answer', exact: true });
  await answer.getByText(shown).waitFor();
  await answer.getByTitle('200 input, 40 output, 900 cache read, 100 cache write').waitFor();
  await page.goto(`${url}/jobs/${job.id}`);
  await page.getByText(shown).first().waitFor();
  // Nothing was read from a cache: then no share is shown.
  const other = await openContext(client, 'not cached', ['say: hello']);
  await client.jobs.wait(other.jobs[0] ?? '');
  await page.goto(`${url}/contexts/${other.context.id}`);
  await answer.getByText(/ in · .* out/).waitFor();
  expect(await answer.textContent()).not.toContain('cached');
});
