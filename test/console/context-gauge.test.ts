// The header of a chat shows how much of its context limit is used, and what the context has cost.
import { expect } from 'vitest';
import { LOOKS, browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { useOwnPlatform } from './rig/platform.ts';
import { openContext } from './rig/scenes.ts';

const { visit } = useBrowser();
const platform = useOwnPlatform();

test('the gauge has the last prompt with its answer, grows live, and follows the limit of the worker', async () => {
  const { client, url } = platform();
  const { context, jobs } = await openContext(client, 'gauge', ['say: one'], { context_limit: 1_000 });
  await client.jobs.wait(jobs[0] ?? '');
  const page = await visit(`${url}/contexts/${context.id}`);
  const meter = page.getByRole('meter', { name: 'Context used' });
  await meter.waitFor();
  const { data } = await client.contexts.messages.list(context.id, { order: 'desc', limit: 1 }).page();
  const usage = data[0]?.usage;
  if (usage == null) throw new Error('the answer has no usage');
  const sum = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens + usage.output_tokens;
  expect([await meter.getAttribute('aria-valuenow'), await meter.getAttribute('aria-valuemax')]).toEqual([
    String(sum),
    '1000',
  ]);
  expect(await meter.getAttribute('aria-valuetext')).toContain('compacted above 80%');
  await client.contexts.send(context.id, `say: ${'many words '.repeat(60)}`);
  await expect.poll(async () => Number(await meter.getAttribute('aria-valuenow'))).toBeGreaterThan(sum + 100);
  await client.contexts.update(context.id, { config: { context_limit: 200_000 } });
  await page.reload();
  await expect.poll(() => meter.getAttribute('aria-valuemax')).toBe('200000');
});

for (const { theme, size } of LOOKS) {
  test(`it is accessible and fits: ${theme}, ${size}`, async () => {
    const { client, url } = platform();
    const { context, jobs } = await openContext(client, 'A context with a name that is long enough for two lines', [
      'say: one',
    ]);
    await client.jobs.wait(jobs[0] ?? '');
    const page = await visit(`${url}/contexts/${context.id}`, { theme, size });
    await page.getByRole('meter').waitFor();
    await expectAccessible(page);
    await expectFits(page);
  });
}
