// The parts of a conversation, as a person finds them on its page.
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

export const log = (page: Page) => page.getByRole('log', { name: 'Messages' });
export const partial = (page: Page) => page.getByRole('article', { name: 'Partial answer' });
export const answers = (page: Page) => page.getByRole('article', { name: 'Answer', exact: true });
export const answer = (page: Page, text: string) => answers(page).filter({ hasText: text });
export const card = (page: Page, tool: string) => page.getByRole('region', { name: `Tool ${tool}` });

/** As a reader scrolls: by the wheel. */
export async function scrollToStart(page: Page): Promise<void> {
  await log(page).hover();
  await page.mouse.wheel(0, -1_000_000);
}

/** How much of the conversation lies below the view, in pixels. */
export async function belowView(page: Page): Promise<number> {
  return log(page).evaluate(({ scrollHeight, clientHeight, scrollTop }) => scrollHeight - clientHeight - scrollTop);
}

/** Its text, once it is longer than `than`. */
export async function longer(of: Locator, than: number): Promise<string> {
  let text = '';
  await expect
    .poll(
      async () => {
        text = (await of.textContent()) ?? '';
        return text.length;
      },
      { interval: 100 },
    )
    .toBeGreaterThan(than);
  return text;
}
