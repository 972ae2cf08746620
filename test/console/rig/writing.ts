// The input field of a conversation.
import type { Page } from 'playwright-core';

export const field = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });

export async function send(page: Page, text: string): Promise<void> {
  await field(page).fill(text);
  await sendWritten(page);
}

/** Enter does nothing while the input before is on its way. */
export async function sendWritten(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Send', exact: true }).and(page.locator(':enabled')).waitFor();
  await field(page).press('Enter');
}
