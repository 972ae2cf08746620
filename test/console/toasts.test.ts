// Toasts never cover the controls of the input form.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { browserTest as test, useBrowser } from './rig/browser.ts';
import type { Size } from './rig/profiles.ts';
import { useTenant } from './rig/platform.ts';
import { field } from './rig/writing.ts';

const platform = useTenant('toasts');
const { visit } = useBrowser(platform);

type Box = { x: number; y: number; width: number; height: number };

function meet(one: Box, other: Box): boolean {
  return (
    one.x < other.x + other.width &&
    other.x < one.x + one.width &&
    one.y < other.y + other.height &&
    other.y < one.y + one.height
  );
}

/** Each is refused, and a toast shows the reason. */
async function attachWrongFiles(page: Page, count: number): Promise<void> {
  const buffer = Buffer.from('neither an image nor a PDF');
  for (let number = 1; number <= count; number += 1) {
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: /^Attach/ }).click();
    await (await chooser).setFiles([{ name: `${number}.txt`, mimeType: 'text/plain', buffer }]);
  }
}

const sizes: Size[] = ['desktop', 'phone'];
for (const size of sizes) {
  test(`the boxes of toasts and of Send do not meet: ${size}`, async () => {
    const { client, url } = platform();
    const { id } = await client.contexts.create({ title: 'toasts', config: { model: 'simulated/test' } });
    const page = await visit(`${url}/contexts/${id}`, { size });
    // Toasts stay: their time stands still where this says that they are not seen. Nothing else reads it.
    await page.evaluate(`Object.defineProperty(document, 'hidden', { get: () => true })`);
    await field(page).fill('say: sent');
    await attachWrongFiles(page, 3);
    const toasts = page.locator('[data-sonner-toast]');
    await expect.poll(() => toasts.count()).toBe(3);
    const send = page.getByRole('button', { name: 'Send', exact: true });
    // In front of all others, and where it stays.
    await toasts.first().click({ trial: true });
    const sendBox = await send.boundingBox();
    if (sendBox === null) throw new Error('Send is not seen');
    for (const toast of await toasts.all()) {
      const box = await toast.boundingBox();
      if (box === null) throw new Error('a toast is not seen');
      expect(meet(box, sendBox), `${JSON.stringify(box)} and ${JSON.stringify(sendBox)}`).toBe(false);
    }
    await send.click();
    await page.getByRole('article', { name: 'Answer', exact: true }).getByText('sent').waitFor();
    expect(await toasts.count()).toBe(3);
  });
}
