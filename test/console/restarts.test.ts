// A platform that is killed and started again: the chat shows it and misses nothing, and a person settles the calls
// whose outcome is not known.
import { expect } from 'vitest';
import { browserTest as test, expectAccessible, useBrowser } from './rig/browser.ts';
import { card, longer, partial, answer } from './rig/conversation.ts';
import { useOwnPlatform } from './rig/platform.ts';
import { openContext, waitingFor } from './rig/scenes.ts';
import { field, send, sendWritten } from './rig/writing.ts';

const platform = useOwnPlatform();
const { visit, excuse } = useBrowser(platform);

test('a killed server is reported as unreachable, and once it is back nothing is missing', async () => {
  const { client, url, kill, restart } = platform();
  const { id } = await client.contexts.create({ title: 'a desk', worker: { name: 'desk', role: 'clerk' } });
  const page = await visit(`${url}/contexts/${id}`);
  excuse(
    /Failed to load resource|ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/,
  );
  await send(page, 'say: before\ncall: look_up {"word": "a"}\n---\ntokens: 20000 over 900s');
  const shown = await longer(partial(page), 40);
  await kill();
  const banner = page.getByText('The connection to Nightshift was lost');
  await banner.waitFor();
  const last = (await partial(page).textContent()) ?? '';
  await field(page).fill('say: kept');
  await page.getByText('The connection is lost.').waitFor();
  await restart();
  await banner.waitFor({ state: 'hidden' });
  // Another attempt writes it from the beginning: only that one can get further.
  const again = await longer(partial(page), last.length);
  expect(again.startsWith(shown.slice(0, 40))).toBe(true);
  await answer(page, 'before').waitFor();
  expect(await client.jobs.list({ context_id: id }).all()).toMatchObject([{ status: 'running', attempt: 2 }]);
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await partial(page).waitFor({ state: 'hidden' });
  expect(await field(page).inputValue()).toBe('say: kept');
  await sendWritten(page);
  await answer(page, 'kept').waitFor();
});

test('calls with an unknown outcome are settled in place, and in the inbox', async () => {
  const { client, url, kill, restart, effectsOf } = platform();
  const TITLES = ['it happened', 'it is unknown', 'it did not', 'a transfer'];
  const wire = 'call: wire_money {"amount": 7}\n---\nsay: settled';
  const opened = await Promise.all(TITLES.map((title) => openContext(client, title, [wire])));
  const ids = opened.map(({ context }) => context.id);
  const [happened = '', unknown = '', again = '', transfer = ''] = ids;
  const textOf = async (id: string) => JSON.stringify(await client.contexts.messages.list(id).all());
  // Each has begun, and not only announced it.
  for (const id of ids) await expect.poll(() => effectsOf(id)).toEqual(['wire 7']);
  await kill();
  await restart();
  await waitingFor(client, TITLES.length);

  const page = await visit(`${url}/contexts/${happened}`);
  const form = page.getByRole('group', { name: 'Outcome of wire_money' });
  await page.getByText('wire_money').first().waitFor();
  await form.getByText('process was lost while this call was running').waitFor();
  await expectAccessible(page);
  await form.getByLabel('Result, if it happened').fill('receipt 77');
  await form.getByRole('button', { name: 'It happened' }).click();
  await answer(page, 'settled').waitFor();
  await card(page, 'wire_money').getByText('Completed').waitFor();
  expect(await textOf(happened)).toContain('receipt 77');

  await page.goto(`${url}/contexts/${unknown}`);
  await form.getByRole('button', { name: 'Report as unknown' }).click();
  await answer(page, 'settled').waitFor();
  await form.waitFor({ state: 'hidden' });

  await page.goto(`${url}/contexts/${again}`);
  await form.getByRole('button', { name: 'It did not happen: run again' }).click();
  await form.waitFor({ state: 'hidden' });
  await expect.poll(() => effectsOf(again)).toEqual(['wire 7', 'wire 7']);
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByRole('region', { name: 'Conversation' }).getByText('Idle').waitFor();

  await page.goto(`${url}/inbox`);
  const waiting = page.getByRole('article').filter({ hasText: 'a transfer' });
  await waiting.getByLabel('Result, if it happened').fill('receipt 78');
  await waiting.getByRole('button', { name: 'It happened' }).click();
  await page.getByText('The inbox is empty').waitFor();
  await client.jobs.wait(opened.at(-1)?.jobs[0] ?? '');
  expect(await textOf(transfer)).toContain('receipt 78');
});
