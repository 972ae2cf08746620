// Messages as a reader sees them: no text of a model is lost, and answers are shown as they were written.
import { expect } from 'vitest';
import { browserTest as test, expectAccessible, useBrowser } from './rig/browser.ts';
import { useTenant } from './rig/platform.ts';
import { keyOf } from './rig/tenants.ts';

const platform = useTenant('reading');
const { visit, excuse } = useBrowser(platform);

const WRITTEN = `<plan>
1. **first**
2. a \`List<String>\`, and a Map<String, List<Int>> beside it
</plan>

<details><summary>more</summary>hidden?</details> <!-- a note --> <img src=x onerror=alert(1)>

a < b && c > d, <https://example.com>`;

test('text that looks like HTML is shown as text, Markdown between it is rendered, and raw is unchanged', async () => {
  const { client, url } = platform();
  const context = await client.contexts.import({
    title: 'markup',
    entries: [{ user: 'plan', assistant: WRITTEN }],
  });
  const page = await visit(`${url}/contexts/${context.id}`);
  const answer = page.getByRole('article', { name: 'Answer', exact: true });
  await answer.getByText('a < b && c > d').waitFor();
  // Tests prefer reduced motion. Without transitions, everything in the answer becomes visible in the same frame.
  expect(await page.evaluate(`getComputedStyle(document.querySelector('article code')).transitionDuration`)).toBe('0s');
  const shown = await answer.innerText();
  for (const text of [
    '<plan>',
    '</plan>',
    'List<String>',
    'Map<String, List<Int>>',
    '<details><summary>more</summary>hidden?</details>',
    '<!-- a note -->',
    '<img src=x onerror=alert(1)>',
    'a < b && c > d',
  ])
    expect(shown).toContain(text);
  expect(await answer.locator('strong').innerText()).toBe('first');
  expect(await answer.getByRole('link').getAttribute('href')).toBe('https://example.com');
  expect(await answer.locator('img, details').count()).toBe(0);
  // Its preview mentions it, too.
  await page.getByRole('navigation', { name: 'Contexts' }).getByText('<plan> 1. first').waitFor();

  await answer.getByRole('button', { name: 'Show raw text' }).click();
  expect(await answer.locator('pre').first().innerText()).toBe(WRITTEN);
  await expectAccessible(page);
  await answer.getByRole('button', { name: 'Show rendered' }).click();
  await answer.locator('strong').waitFor();
});

test('contexts are found on the server, by title, worker and id, however many lie between', async () => {
  const { client, url } = platform();
  const sought = await client.contexts.create({ title: 'the needle', worker: { name: 'tailor' } });
  await Promise.all(Array.from({ length: 70 }, (_, at) => client.contexts.create({ title: `straw ${at}` })));
  const page = await visit(url);
  const list = page.getByRole('navigation', { name: 'Contexts' });
  await list.getByText('straw').first().waitFor();
  expect(await list.getByText('the needle').count()).toBe(0);
  const field = page.getByPlaceholder('Find a context');
  for (const words of ['NEEDLE', 'tailor', sought.id]) {
    await field.fill(words);
    await list.getByText('the needle').waitFor();
    await expect.poll(() => list.locator('[data-context]').count()).toBe(1);
    await field.fill('');
    await list.getByText('straw').first().waitFor();
  }
  await field.fill('no such thing');
  await page.getByText('No matching contexts.').waitFor();
  await expectAccessible(page);
});

test('an address that does not exist is answered by a page for people, and by a problem for programs', async () => {
  const { url } = platform();
  excuse(/404/);
  const page = await visit(`${url}/no/such/page`);
  await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  await page.getByRole('link', { name: 'Go to Chat' }).click();
  await page.waitForURL(`${url}/`);
  const headers = { authorization: `Bearer ${keyOf('reading')}` };
  const row = await fetch(`${url}/no/such/page`, { headers });
  expect(row.status).toBe(404);
  expect(await row.json()).toMatchObject({ error: { code: 'not_found' } });
});

test('what is switched on, and what is not, is told apart where it cannot be changed', async () => {
  const page = await visit(`${platform().url}/settings`);
  await page.getByRole('button', { name: /clerk/ }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('tab', { name: 'Tools and approval' }).click();
  const tools = dialog.getByRole('group', { name: 'Tools', exact: true });
  await tools.getByText('look_up').waitFor();
  expect(await tools.getByRole('listitem').allInnerTexts()).toEqual([
    'look_up',
    'send_mail',
    'ask_user',
    'spawn_worker',
  ]);
  await dialog.getByText('nightshift.config.ts').first().waitFor();
  expect(await dialog.getByRole('checkbox').count()).toBe(0);
  await expectAccessible(page);
});
