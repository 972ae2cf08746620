// Settings, MCP servers: why a server failed, what to do about it, and its figures.
import { expect } from 'vitest';
import type { McpServerFailure, McpServerInfo } from '../../src/client/index.ts';
import { FAILURE_REASONS } from '../../src/core/tools/server-failure.ts';
import { LOOKS, browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { useTenant } from './rig/platform.ts';

const platform = useTenant('mcp-servers');
const { visit } = useBrowser(platform);

type Look = NonNullable<Parameters<typeof visit>[1]>;

const failure = (reason: McpServerFailure['reason'], code: number | null = null): McpServerFailure => ({
  at: new Date(Date.now() - 130_000).toISOString(),
  reason,
  code,
  process_id: '0190a000-0000-7000-8000-000000000000',
  host: 'worker-1',
});

const server = (name: string, more: Partial<McpServerInfo> = {}): McpServerInfo => ({
  name,
  state: 'up',
  scope: 'shared',
  tools: null,
  last_failure: null,
  restarts: 0,
  calls: {},
  latency_ms: null,
  ...more,
});

/** The page, where the API has these servers. */
async function open(servers: McpServerInfo[], look?: Look) {
  const { client, url } = platform();
  const system = await client.system.get();
  const page = await visit('about:blank', look);
  await page.route('**/api/system', (route) => route.fulfill({ json: { ...system, mcp_servers: servers } }));
  await page.goto(`${url}/settings?tab=servers`);
  return page;
}

const FILES = server('files', {
  state: 'down',
  last_failure: failure('exited', 137),
  restarts: 4,
  calls: { timed_out: 1, failed: 0, completed: 1_200 },
  latency_ms: { p50: 8, p95: 2_400 },
});

test('a server that is down says why, when, on which host, and what to do', async () => {
  const page = await open([FILES]);
  const panel = page.getByRole('tabpanel');
  await panel.getByText('Down', { exact: true }).waitFor();
  await panel.getByText('Process ended with exit code 137', { exact: true }).waitFor();
  await panel.getByText('2m ago, on worker-1').waitFor();
  await panel.getByText('It was killed, often because memory ran out.').waitFor();
  const figures = await panel.locator('dl[aria-label="Figures of files"]').innerText();
  expect(figures.split('\n').filter((line) => line !== '')).toEqual([
    'Reconnections',
    '4',
    'Calls',
    '1,201 calls: 1,200 completed, 1 timed out',
    'Latency',
    'median 8 ms, p95 2.4 s',
  ]);
});

test('each reason has words of its own', async () => {
  const page = await open(
    FAILURE_REASONS.map((reason) => server(reason, { state: 'down', last_failure: failure(reason) })),
  );
  const names = page.getByRole('tabpanel').locator('strong');
  await names.last().waitFor();
  const texts = await names.allInnerTexts();
  expect(texts).toHaveLength(FAILURE_REASONS.length);
  expect(new Set(texts).size).toBe(FAILURE_REASONS.length);
});

test('a tenant sees the state alone', async () => {
  const page = await open([server('files', { state: 'down', scope: null, restarts: null, calls: null })]);
  const panel = page.getByRole('tabpanel');
  await panel.getByText('Down', { exact: true }).waitFor();
  await panel.getByText('only worker processes know its tools').waitFor();
  for (const text of ['Last failure', 'Reconnections', 'Latency']) expect(await panel.getByText(text).count()).toBe(0);
});

test('a server of tenants or contexts says that its tools are not listed here, and who shares an instance', async () => {
  const page = await open([server('mine', { scope: 'tenant' }), server('each', { scope: 'context' })]);
  const panel = page.getByRole('tabpanel');
  await panel.getByText('Each tenant has an instance of its own').waitFor();
  await panel.getByText('one per tenant', { exact: true }).waitFor();
  await panel.getByText('Each context has an instance of its own').waitFor();
  await panel.getByText('one per context', { exact: true }).waitFor();
});

for (const look of LOOKS) {
  test(`it is accessible, and fits: ${look.theme}, ${look.size}`, async () => {
    const again = server('again', { last_failure: failure('tls_error') });
    const page = await open([FILES, again, server('new')], look);
    await page.getByText('No secure connection').waitFor();
    await expectAccessible(page);
    await expectFits(page);
  });
}
