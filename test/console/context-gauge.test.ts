// The header of a chat shows how much of its context limit is used, and what the context has cost.
import { describe, expect, test as unitTest } from 'vitest';
import { tokensOf } from '../../web/src/pages/chat/context-tokens.ts';
import { LOOKS, browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { useOwnPlatform } from './rig/platform.ts';
import { openContext } from './rig/scenes.ts';

const { visit } = useBrowser();
const platform = useOwnPlatform();

test('the gauge has the last prompt with its answer and grows live; after a reload it has the new limit of the worker', async () => {
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

describe('the tokens of a branch', () => {
  const usage = {
    input_tokens: 10,
    cache_read_tokens: 200,
    cache_write_tokens: 30,
    output_tokens: 4,
    cache_hit_ratio: null,
    cost: null,
  };
  const answer = (seq: number) => ({ seq, status: 'completed' as const, usage });
  const input = { seq: 9, status: 'completed' as const, usage: null };
  const compaction = (branch: string, seq: number) => ({ branch, seq, tokens_after: 50 + seq });

  unitTest('are those of the last model call with its answer', () => {
    expect(tokensOf('main', [answer(2), answer(4), input], [compaction('main', 3)])).toBe(244);
  });

  unitTest('are those after a later compaction of this branch', () => {
    expect(tokensOf('main', [answer(2)], [compaction('main', 6), compaction('main', 4)])).toBe(56);
  });

  unitTest('are not those after a compaction of another branch', () => {
    const compactions = [compaction('main', 3), compaction('other', 8)];
    expect(tokensOf('main', [answer(4)], compactions)).toBe(244);
    expect(tokensOf('other', [answer(4)], compactions)).toBe(58);
  });

  unitTest('are not known without a model call and a compaction', () => {
    expect(tokensOf('main', [input], [compaction('other', 8)])).toBeNull();
  });
});
