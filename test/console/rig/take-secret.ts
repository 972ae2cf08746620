// A key or a secret that a dialog shows once.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { expectAccessible } from './browser.ts';

/** `name`: what it is, as the dialog named `title` says: “key”. Once the dialog is closed, the page has it nowhere. */
export async function takeSecret(page: Page, { title, name }: { title: string; name: string }): Promise<string> {
  const dialog = page.getByRole('dialog', { name: title });
  const secret = await dialog.getByRole('region', { name: `The ${name}` }).innerText();
  await dialog.getByText('it is not shown again').waitFor();
  await expectAccessible(page);
  // A stray click beside it does not lose it.
  await page.mouse.click(5, 5);
  await dialog.getByRole('button', { name: `Copy the ${name}` }).waitFor();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await dialog.waitFor({ state: 'detached' });
  const kept = await page.evaluate<string>(
    `[document.documentElement.outerHTML, location.href, ...Object.values(localStorage), ...Object.values(sessionStorage)].join()`,
  );
  expect(kept).not.toContain(secret);
  return secret;
}
