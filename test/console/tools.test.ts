// Settings, Tools: the catalogue, a tool with its schema, and what the tenant used of it.
import { expect } from 'vitest';
import type { Tool, ToolUse } from '../../src/client/index.ts';
import { LOOKS, browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { useTenant } from './rig/platform.ts';

const platform = useTenant('tools');
const { visit } = useBrowser(platform);

type Look = NonNullable<Parameters<typeof visit>[1]>;

const JOB = '0190a000-0000-7000-8000-000000000002';
const used = (name: string, more: Partial<ToolUse> = {}): ToolUse => ({
  name,
  calls: 1,
  completed: 1,
  failed: 0,
  denied: 0,
  expired: 0,
  unknown: 0,
  codes: {},
  duration_ms: { p50: 12, p95: 2_400 },
  last_called_at: new Date(Date.now() - 130_000).toISOString(),
  failures: [],
  ...more,
});
const failed = used('send_mail', {
  calls: 1_204,
  completed: 1_200,
  failed: 3,
  denied: 1,
  codes: { timed_out: 2, smtp_down: 1 },
  failures: [
    {
      at: new Date(Date.now() - 130_000).toISOString(),
      code: 'timed_out',
      context_id: JOB,
      job_id: JOB,
      tool_call_id: JOB,
    },
  ],
});

const tool = (name: string): Tool => ({
  name,
  source: 'mcp',
  server: 'files',
  description: 'Reads a file.',
  input_schema: { type: 'object', properties: { path: { type: 'string' } } },
  effect: 'none',
  approval: 'never',
  answered_by: 'tool',
  timeout_ms: 60_000,
  served: true,
  processes: null,
});

/** The page, where processes have counted this. Hours of each request are added to `asked`. */
async function open(address: string, use: ToolUse[], { look, more = [], asked = [] }: Opened = {}) {
  const { client, url } = platform();
  const { data } = await client.system.tools();
  const page = await visit('about:blank', look);
  await page.route('**/api/tools', (route) => route.fulfill({ json: { data: [...data, ...more] } }));
  await page.route('**/api/tools/use?*', (route) => {
    asked.push(new URL(route.request().url()).searchParams.get('hours'));
    return route.fulfill({ json: { from: '2026-01-01T00:00:00.000Z', data: use } });
  });
  await page.goto(`${url}${address}`);
  return page;
}
type Opened = { look?: Look; more?: Tool[]; asked?: (string | null)[] };

test('a tool shows its input, effect, approval and timeout, its use, and leads to its last failures', async () => {
  const page = await open('/settings?tab=tools', [failed]);
  await page.getByRole('button', { name: 'Show the tool send_mail' }).click();
  const dialog = page.getByRole('dialog', { name: 'send_mail' });
  await dialog.getByText('Runs once: a call whose outcome is unknown is never repeated.').waitFor();
  expect(new URL(page.url()).searchParams.get('tool')).toBe('send_mail');
  await dialog.getByText('needs approval; rules of configs and roles may be stricter').waitFor();
  const input = dialog.getByRole('list', { name: 'Input' });
  expect(await input.getByRole('listitem').allInnerTexts()).toEqual([
    expect.stringMatching(/^to\s+string\s+required$/),
    expect.stringMatching(/^text\s+string\s+required$/),
  ]);
  const codes = dialog.locator('dl[aria-label="Failed calls by code"]');
  expect((await codes.innerText()).split(/\s+/)).toEqual(['timed_out', '2', 'smtp_down', '1']);
  await dialog.getByText('p50 12 ms, p95 2.4 s').waitFor();
  expect(await dialog.getByRole('link', { name: 'Timeline of its job' }).getAttribute('href')).toBe(
    `/jobs/${JOB}?tab=timeline`,
  );
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  expect(new URL(page.url()).searchParams.get('tool')).toBeNull();
});

test('the address opens a tool, and the range is asked for', async () => {
  const asked: (string | null)[] = [];
  const page = await open('/settings?tab=tools&tool=look_up&hours=168', [], { asked });
  const dialog = page.getByRole('dialog', { name: 'look_up' });
  await dialog.getByText('No calls ended in this range.').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: '24 hours' }).click();
  await expect.poll(() => asked).toEqual(['168', '24']);
});

test('of 300 tools at most 60 rows are in the document, and a search finds the others', async () => {
  const more = Array.from({ length: 300 }, (_, n) => tool(`files__tool_${String(n).padStart(3, '0')}`));
  const page = await open('/settings?tab=tools', [], { more });
  await page.getByRole('button', { name: 'Show the tool files__tool_000' }).waitFor();
  expect(await page.locator('main [data-row]').count()).toBeLessThanOrEqual(60);
  await page.getByRole('searchbox', { name: 'Find a tool' }).fill('tool_299');
  await page.getByRole('button', { name: 'Show the tool files__tool_299' }).waitFor();
  expect(await page.locator('main [data-row]').count()).toBe(1);
});

test('on a phone, too, a long list scrolls to its end', async () => {
  const more = Array.from({ length: 300 }, (_, n) => tool(`zone__tool_${String(n).padStart(3, '0')}`));
  const page = await open('/settings?tab=tools', [], { more, look: { size: 'phone' } });
  await page.locator('[data-row="ask_user"]').waitFor();
  const last = page.locator('[data-row="zone__tool_299"]');
  await expect
    .poll(async () => {
      await page.mouse.wheel(0, 20_000);
      return last.count();
    })
    .toBe(1);
  expect(await page.locator('main [data-row]').count()).toBeLessThanOrEqual(60);
});

test('a tool that was used and that no process serves is listed with its use', async () => {
  const page = await open('/settings?tab=tools', [used('open_tab', { duration_ms: null })]);
  await page.getByRole('button', { name: 'Show the tool open_tab' }).click();
  const dialog = page.getByRole('dialog', { name: 'open_tab' });
  await dialog.getByText('a tool that clients run, or one that no longer exists').waitFor();
  expect((await dialog.locator('dl[aria-label="Use and errors"]').innerText()).split(/\s+/)).toContain('Completed');
});

for (const look of LOOKS) {
  test(`it is accessible, and fits: ${look.theme}, ${look.size}`, async () => {
    const page = await open('/settings?tab=tools', [failed, used('look_up')], { look });
    await page.getByRole('button', { name: 'Show the tool send_mail' }).waitFor();
    await expectAccessible(page);
    await expectFits(page);
    await page.getByRole('button', { name: 'Show the tool send_mail' }).click();
    await page.getByRole('dialog').getByText('smtp_down').waitFor();
    await expectAccessible(page);
    await expectFits(page);
  });
}
