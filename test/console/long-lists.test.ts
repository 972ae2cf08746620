// Long lists: the rows around those that are seen are in the document, and the rest can be reached by wheel and keyboard.
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { browserTest as test, expectAccessible, useBrowser } from './rig/browser.ts';
import { useTenant } from './rig/platform.ts';
import { openContext, waitingFor } from './rig/scenes.ts';

const platform = useTenant('long-lists');
const { visit } = useBrowser(platform);

const MOST = 60;
const ROWS = 150;

const names = Array.from({ length: ROWS }, (_, at) => `w${String(at).padStart(3, '0')}`);

/** Turns the wheel over the list until it is seen; the document never has more rows than are allowed. */
async function wheelTo(page: Page, sought: Locator, by: number): Promise<void> {
  await page.getByRole('main').hover();
  await expect
    .poll(
      async () => {
        await page.mouse.wheel(0, by);
        expect(await page.locator('[data-row]').count()).toBeLessThanOrEqual(MOST);
        // In the document and in the window.
        const box = (await sought.count()) === 1 ? await sought.boundingBox() : null;
        return box !== null && box.y >= 0 && box.y < (page.viewportSize()?.height ?? 0);
      },
      { interval: 50 },
    )
    .toBe(true);
}

/** A job that has spawned so many workers, which have ended. */
async function spawned() {
  const { client } = platform();
  const calls = names.map((name) => `call: spawn_worker {"input": "say: hi", "name": "${name}"}`);
  const { context, jobs } = await openContext(client, 'many workers', [`${calls.join('\n')}\n---\nsay: done`], {
    tools: ['spawn_worker'],
  });
  const [job = ''] = jobs;
  expect((await client.jobs.wait(job)).status).toBe('completed');
  return { context, job };
}

test('steps and a tree of workers: all rows come by the wheel, and an opened step stays open', async () => {
  const { url } = platform();
  const { context, job } = await spawned();
  const page = await visit(`${url}/jobs/${job}?tab=steps`);
  const steps = page.getByRole('list', { name: 'Steps' }).getByRole('button', { expanded: false });
  const opened = page.getByRole('list', { name: 'Steps' }).getByRole('button', { expanded: true });
  await steps.first().click();
  await opened.waitFor();
  expect(await page.locator('[data-row]').count()).toBe(MOST);
  await expectAccessible(page);
  const rows = page.getByRole('list', { name: 'Steps' }).getByRole('listitem');
  expect(await rows.first().getAttribute('aria-setsize')).toBe(String(ROWS + 2));
  await wheelTo(page, rows.and(page.locator(`[aria-posinset="${ROWS + 2}"]`)), 300);
  expect(await opened.count()).toBe(0);
  await wheelTo(page, rows.and(page.locator('[aria-posinset="1"]')), -300);
  await opened.waitFor();

  await page.goto(`${url}/workers/${context.worker_id}/tree`);
  const nth = (at: number) => page.locator(`[role="treeitem"][aria-level="2"][aria-posinset="${at}"]`);
  await nth(1).waitFor();
  await wheelTo(page, nth(ROWS), 300);
  await expectAccessible(page);
});

test('a tree of many workers is used by keyboard, from its first to its last row', async () => {
  const { url } = platform();
  const { context } = await spawned();
  const page = await visit(`${url}/workers/${context.worker_id}/tree`);
  const focused = page.locator(':focus');
  const top = page.getByRole('treeitem', { level: 1 }).and(focused);
  const nth = (at: number) => page.locator(`[role="treeitem"][aria-level="2"][aria-posinset="${at}"]`);
  await nth(1).waitFor();
  await page.getByRole('treeitem').first().focus();
  await page.keyboard.press('End');
  await nth(ROWS).and(focused).waitFor();
  await page.getByRole('heading', { level: 2, name: await nameOf(nth(ROWS)) }).waitFor();
  await page.keyboard.press('ArrowUp');
  await nth(ROWS - 1)
    .and(focused)
    .waitFor();
  await page.keyboard.press('Home');
  await top.waitFor();
  // Rows leave the document above the focus, and come back.
  for (const _ of names) await page.keyboard.press('ArrowDown');
  await nth(ROWS).and(focused).waitFor();
  expect(await page.locator('[data-row]').count()).toBeLessThanOrEqual(MOST);
  for (const _ of names) await page.keyboard.press('ArrowUp');
  await top.waitFor();
});

/** The name of the worker of a row. */
async function nameOf(row: Locator): Promise<RegExp> {
  return new RegExp(/w\d{3}/.exec(await row.innerText())?.[0] ?? 'no name');
}

test('a long list comes to rest at each place that it is scrolled to', async () => {
  const { url } = platform();
  const { job } = await spawned();
  const page = await visit(`${url}/jobs/${job}?tab=steps`);
  const row = page.locator('[data-row]');
  await row.first().waitFor();
  // The average height of the rows in the document changes with each part: tall rows are followed by low ones.
  await page.evaluate(`(() => {
    const tall = Array.from({ length: 45 }, (_, at) => '[aria-posinset="' + (at + 1) + '"]').join();
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(tall + ' { min-height: 300px }');
    document.adoptedStyleSheets = [sheet];
  })()`);
  // In small steps, so that each edge of a part is met. Errors of the page fail the test.
  const steps = await page.evaluate<number>(`(async () => {
    let scroller = document.querySelector('[data-row]');
    while (scroller !== null && !(scroller.scrollHeight > scroller.clientHeight && getComputedStyle(scroller).overflowY !== 'visible'))
      scroller = scroller.parentElement;
    scroller ??= document.scrollingElement;
    let steps = 0;
    for (const by of [160, -160])
      for (let before = -1; before !== scroller.scrollTop && steps < 3000; steps += 1) {
        before = scroller.scrollTop;
        scroller.scrollTop += by;
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      }
    return steps;
  })()`);
  expect(steps).toBeGreaterThan(200);
  await row.first().waitFor();
});

test('a text that was written into a card of a long inbox is still there when the card comes back', async () => {
  const { client, url } = platform();
  const count = 75;
  const asked = await openContext(client, 'many questions', [
    Array.from({ length: count }, (_, at) => `ask: question ${at}?`).join('\n'),
  ]);
  await waitingFor(client, 50);
  const page = await visit(`${url}/inbox`);
  const card = page.getByRole('article');
  await card.first().waitFor();
  const more = page.getByRole('button', { name: 'Show more' });
  await more.click();
  await expect.poll(() => card.count()).toBe(50);
  await more.click();
  await page.locator(`[aria-setsize="${count}"]`).first().waitFor();
  expect(await card.count()).toBeLessThanOrEqual(MOST);
  const first = page.locator('[data-row][aria-posinset="1"]');
  await wheelTo(page, first, -300);
  await first.getByRole('textbox').fill('not sent yet');
  await page.getByRole('heading', { level: 1 }).click();
  await wheelTo(page, page.locator(`[data-row][aria-posinset="${count}"]`), 300);
  expect(await first.count()).toBe(0);
  await wheelTo(page, first, -300);
  expect(await first.getByRole('textbox').inputValue()).toBe('not sent yet');
  await client.jobs.cancel(asked.jobs[0] ?? '', { wait_ms: 20_000 });
});

test('schedules and the audit log of a tenant with many', async () => {
  const { client, url } = platform();
  const target = { worker: { name: 'never', config: { model: 'simulated/test' } } };
  for (const name of names)
    await client.schedules.create({ name, every_s: 86_400, paused: true, content: 'say: x', target });
  for (const { path, list } of [
    { path: '/schedules', list: 'Schedules' },
    { path: '/access?tab=audit', list: 'Audit log' },
  ]) {
    const page = await visit(`${url}${path}`);
    const items = page.getByRole('list', { name: list }).locator('> [data-row]');
    await items.first().waitFor();
    const more = page.getByRole('button', { name: 'Show more' });
    await more.click();
    await expect.poll(async () => Number(await items.first().getAttribute('aria-setsize'))).not.toBe(0);
    await wheelTo(page, page.locator('[data-row][aria-posinset="100"]'), 300);
    await expectAccessible(page);
    await page.close();
  }
});
