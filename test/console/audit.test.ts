// The audit log: sentences about who did what, filters, pages, and links to what it was done to.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { createClient } from '../../src/client/index.ts';
import { LOOKS, browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { useTenant } from './rig/platform.ts';
import { openContext, waitingFor } from './rig/scenes.ts';
import { stopPolling } from './rig/timers.ts';

const platform = useTenant('audit');
const { visit } = useBrowser(platform);

const entry = (page: Page, text: RegExp) =>
  page.getByRole('list', { name: 'Audit log' }).getByRole('listitem', { name: text });

test('says who did what, with the names of keys, and links to it', async () => {
  const { client, url } = platform();
  const { key, id } = await client.keys.create({ name: 'deploy', scopes: ['read', 'run', 'configure', 'approve'] });
  const deploy = createClient({ url, apiKey: key });
  await deploy.roles.put('scribe', { model: 'simulated/a' });
  const { context } = await openContext(deploy, 'payments', ['call: send_mail {"to": "max", "text": "hello"}']);
  await waitingFor(deploy, 1);
  await deploy.tools.approve(context.id, { decision: 'deny', all: true });
  await deploy.contexts.update(context.id, { config: { max_steps: 9 } });
  await client.tokens.create({ user: 'alice', scopes: ['read'], expires_in_s: 60 });
  await client.tokens.revoke('alice');
  await client.keys.revoke(id);

  const page = await visit(`${url}/access`);
  await page.getByRole('tab', { name: 'Audit log' }).click();
  await entry(page, /^The environment key \S+ created the API key deploy \(read, run, configure, approve\)$/).waitFor();
  await entry(page, /^The API key deploy saved version 1 of the role scribe$/).waitFor();
  await entry(page, /^The API key deploy changed max_steps of the worker or context/).waitFor();
  await entry(page, /created a token for alice \(read\)$/).waitFor();
  await entry(page, /revoked the tokens of alice$/).waitFor();
  await entry(page, /revoked the API key deploy$/).waitFor();
  await entry(page, /signed in from /)
    .first()
    .waitFor();
  await expectAccessible(page);
  await entry(page, /^The API key deploy denied a call of send_mail$/)
    .getByRole('link', { name: 'Context' })
    .click();
  await page.waitForURL(`**/contexts/${context.id}`);
});

test('is filtered by actor, action, target and day; the address keeps the filters', async () => {
  const { client, url } = platform();
  const { key, id } = await client.keys.create({ name: 'filtered', scopes: ['read', 'configure'] });
  const other = createClient({ url, apiKey: key });
  await other.roles.put('first', { model: 'simulated/a' });
  await other.roles.put('second', { model: 'simulated/a' });
  const page = await visit(`${url}/access?tab=audit`, { stoppable: true });
  const entries = page.getByRole('list', { name: 'Audit log' }).getByRole('listitem');
  await page.getByLabel('Actor').fill(id);
  await page.getByLabel('Actor').press('Enter');
  await expect.poll(() => entries.count()).toBe(2);
  await page.reload();
  await expect.poll(() => entries.count()).toBe(2);
  await entry(page, /the role first$/)
    .getByRole('button', { name: /^Details: .* saved version 1 of the role first$/ })
    .click();
  await page.getByRole('region', { name: 'Entry' }).getByText('"request_id"').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Same target' }).click();
  await expect.poll(() => entries.count()).toBe(1);
  await page.waitForURL(/target=first/);

  await page.goto(`${url}/access?tab=audit`);
  await page.getByRole('combobox', { name: 'Action' }).click();
  await page.getByRole('option', { name: 'Role deleted' }).click();
  await page.getByText('No matching entries').waitFor();
  await expectAccessible(page);
  await stopPolling(page);
  await client.roles.delete('second');
  // Read again by itself, by the stream of changes.
  await entry(page, /deleted the role second$/).waitFor();
  await page.getByLabel('Until').fill('2020-01-01');
  await page.getByText('No matching entries').waitFor();
  await page.getByRole('button', { name: 'Show all entries' }).click();
  await entry(page, /created the API key filtered/).waitFor();
});

test('is read page by page', async () => {
  const { client, url } = platform();
  await client.roles.put('often', { model: 'simulated/0' });
  for (let at = 1; at <= 60; at += 1) await client.roles.put('often', { model: `simulated/${at}` });
  const page = await visit(`${url}/access?tab=audit&target=often`);
  await entry(page, /saved version 61 of/).waitFor();
  expect(await entry(page, /saved version 1 of/).count()).toBe(0);
  await page.getByRole('button', { name: 'Show more' }).click();
  await entry(page, /saved version 1 of/).waitFor();
  expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0);
});

for (const { theme, size } of LOOKS) {
  test(`is accessible, and fits: ${theme}, ${size}`, async () => {
    const { client, url } = platform();
    await client.tokens.revoke('a-user-with-a-long-name'.repeat(6));
    const page = await visit(`${url}/access?tab=audit`, { theme, size });
    await entry(page, /a-user-with-a-long-name/)
      .first()
      .getByRole('button', { name: /^Details: .* revoked the tokens of / })
      .click();
    await expectAccessible(page);
    await expectFits(page);
  });
}
