// Inputs of a person in the chat beside text: files, the result of a tool that the client runs, the outcome of a call
// whose end is unknown, and an input that replaces the running job.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { ContentBlock } from '../../src/client/index.ts';
import { browserTest as test, expectAccessible, expectFits, useBrowser } from './rig/browser.ts';
import { card, partial, answer } from './rig/conversation.ts';
import { useTenant } from './rig/platform.ts';
import { openContext } from './rig/scenes.ts';
import { field, send } from './rig/writing.ts';

const platform = useTenant('chat-answers');
const { visit } = useBrowser(platform);

const inputs = (page: Page) => page.getByRole('article', { name: 'Input' });
const attached = (page: Page) => page.getByRole('list', { name: 'Attachments' });

/** A red dot. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==';
const dot = (name: string) => ({ name, mimeType: 'image/png', buffer: Buffer.from(PNG, 'base64') });
const pdf = { name: 'plan.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.4\n%%EOF\n') };

const SENSOR = {
  name: 'read_sensor',
  description: 'Reads.',
  input_schema: { type: 'object' as const },
};

async function open(id: string): Promise<Page> {
  const page = await visit(`${platform().url}/contexts/${id}`, { hurried: true });
  await field(page).waitFor();
  return page;
}

async function blocksOf(contextId: string): Promise<ContentBlock[]> {
  const messages = await platform().client.contexts.messages.list(contextId).all();
  return messages.flatMap(({ content }) => content);
}

test('files go along with an input, by button, drop and paste; others are refused', async () => {
  const { client } = platform();
  const { context } = await openContext(client, 'pictures', []);
  const page = await open(context.id);
  const files = page.getByLabel('Files to attach');
  await files.setInputFiles([dot('one.png'), pdf]);
  await attached(page).getByText('plan.pdf').waitFor();
  await files.setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no') });
  await page.getByText('Only images (PNG, JPEG, GIF, WebP) and PDFs can be attached.').waitFor();
  await files.setInputFiles({ ...dot('huge.png'), buffer: Buffer.alloc(11_000_001) });
  await page.getByText('The attachments of one input are limited to 11 MB.').waitFor();

  for (const [name, how] of [
    ['dropped.png', "new DragEvent('drop', { dataTransfer: carried, bubbles: true })"],
    ['pasted.png', "new ClipboardEvent('paste', { clipboardData: carried, bubbles: true })"],
  ] as const) {
    await page.evaluate(`(() => {
      const bytes = Uint8Array.from(atob('${PNG}'), (byte) => byte.charCodeAt(0));
      const carried = new DataTransfer();
      carried.items.add(new File([bytes], '${name}', { type: 'image/png' }));
      document.querySelector('textarea[aria-label=Message]').dispatchEvent(${how});
    })()`);
    await attached(page).getByText(name).waitFor();
  }
  await attached(page).getByRole('button', { name: 'Remove one.png' }).click();
  await attached(page).getByText('one.png').waitFor({ state: 'hidden' });
  await expectAccessible(page);
  await send(page, 'say: I see them');
  await attached(page).waitFor({ state: 'hidden' });
  await answer(page, 'I see them').waitFor();
  await inputs(page).getByText('plan.pdf').waitFor();
  const shown = inputs(page).locator('img');
  expect(await shown.count()).toBe(2);
  // The image itself, and not the icon of a broken one.
  await expect.poll(() => shown.first().evaluate((image) => image.naturalWidth)).toBe(5);
  await expectAccessible(page);
  const blocks = await blocksOf(context.id);
  expect(blocks.map(({ type }) => type)).toEqual(['text', 'document', 'image', 'image', 'text']);
  expect(blocks[2]).toMatchObject({ source: { type: 'base64', media_type: 'image/png', data: PNG } });
});

test('an input may be a file alone', async () => {
  const { client } = platform();
  const { context } = await openContext(client, 'one picture', []);
  const page = await open(context.id);
  await page.getByLabel('Files to attach').setInputFiles(dot('alone.png'));
  await attached(page).getByText('alone.png').waitFor();
  await page.getByRole('button', { name: 'Send' }).click();
  await inputs(page).locator('img').waitFor();
  expect((await blocksOf(context.id))[0]).toMatchObject({ type: 'image' });
});

test('the result of a client tool is given at its call, an error too', async () => {
  const { client } = platform();
  const call = 'call: read_sensor {"room": "hall"}\n---\n';
  const { context } = await openContext(client, 'a sensor', [`${call}say: it is warm`], {
    client_tools: [SENSOR],
  });
  const page = await open(context.id);
  await card(page, 'read_sensor').getByText('"room": "hall"').waitFor();
  await expectAccessible(page);
  await card(page, 'read_sensor').getByLabel('Tool result').fill('21 degrees');
  await card(page, 'read_sensor').getByRole('button', { name: 'Submit result' }).click();
  await answer(page, 'it is warm').waitFor();
  await card(page, 'read_sensor').getByText('Completed').waitFor();
  await card(page, 'read_sensor').getByRole('button', { name: 'read_sensor' }).click();
  await card(page, 'read_sensor').getByRole('region', { name: 'Output' }).getByText('21 degrees').waitFor();

  await send(page, `${call}say: it is broken`);
  const second = card(page, 'read_sensor').nth(1);
  await second.getByLabel('Tool result').fill('no answer');
  await second.getByRole('checkbox', { name: 'The tool failed' }).click();
  await second.getByRole('button', { name: 'Submit result' }).click();
  await answer(page, 'it is broken').waitFor();
  await second.getByText('Failed').waitFor();
  const results = (await blocksOf(context.id)).filter(({ type }) => type === 'tool_result');
  expect(results).toMatchObject([
    { content: '21 degrees', is_error: false },
    { content: 'no answer', is_error: true },
  ]);
});

test('an input that interrupts replaces the running job', async () => {
  const { client } = platform();
  const { context } = await openContext(client, 'in a hurry', []);
  const page = await open(context.id);
  await send(page, 'tokens: 5000 over 300s');
  await partial(page).waitFor();
  await page.getByRole('combobox', { name: 'Delivery' }).click();
  await page.getByRole('option', { name: /^Interrupt/ }).click();
  await send(page, 'say: this instead');
  await answer(page, 'this instead').waitFor();
  await partial(page).waitFor({ state: 'hidden' });
  await page.getByRole('region', { name: 'Queued inputs' }).waitFor({ state: 'hidden' });
  const jobs = await client.jobs.list({ context_id: context.id }).all();
  expect(jobs.map(({ status }) => status)).toEqual(['completed', 'interrupted']);
  // It was selected for that one input.
  await send(page, 'wait: 1h');
  await page.getByRole('combobox', { name: 'Delivery' }).getByText('Queue').waitFor();
});

test('files and forms fit a phone in the dark theme', async () => {
  const { client, url } = platform();
  const { context } = await openContext(client, 'a small screen', ['call: read_sensor {"room": "attic"}'], {
    client_tools: [SENSOR],
  });
  const page = await visit(`${url}/contexts/${context.id}`, { size: 'phone', theme: 'dark' });
  await card(page, 'read_sensor').getByLabel('Tool result').waitFor();
  await page.getByLabel('Files to attach').setInputFiles([dot(`${'long-'.repeat(20)}.png`), pdf]);
  await attached(page).getByText('plan.pdf').waitFor();
  await expectAccessible(page);
  await expectFits(page);
});
