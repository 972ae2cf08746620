// The chat: an answer grows as it is written, in every tab and after a reload; running jobs are stopped, steered and
// followed by queued inputs; approvals and questions are answered in place; and the page waits for a server that dies.
import type { Page, Request } from 'playwright-core';
import { expect } from 'vitest';
import { LOOKS, browserTest as test, expectAccessible, expectFits, settled, useBrowser } from './rig/browser.ts';
import { answer, belowView, log, longer, partial, scrollToStart } from './rig/conversation.ts';
import { depth } from '../services/depth.ts';
import { useTenant } from './rig/platform.ts';
import { field, send } from './rig/writing.ts';

const platform = useTenant('chat');
const { visit, excuse } = useBrowser(platform);

const queue = (page: Page) => page.getByRole('region', { name: 'Queued inputs' });
const place = (page: Page, number: number) =>
  queue(page)
    .getByRole('listitem')
    .nth(number - 1);

async function open(role = 'clerk'): Promise<{ page: Page; id: string; address: string }> {
  const { client, url } = platform();
  const { id } = await client.contexts.create({ title: 'a desk', worker: { name: 'desk', role } });
  const address = `${url}/contexts/${id}`;
  const page = await visit(address, { hurried: true });
  await field(page).waitFor();
  return { page, id, address };
}

const pairs = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ user: `question ${at}`, assistant: `answer ${at}` }));

test('two clicks make a worker, and its answer grows on the page', async () => {
  const page = await visit(platform().url);
  await page.getByRole('button', { name: 'New worker' }).first().click();
  await page.getByRole('menuitem', { name: /^clerk/ }).click();
  await page.waitForURL(/\/contexts\//);
  await send(page, 'tokens: 20000 over 900s');
  await page.getByRole('article', { name: 'Input' }).filter({ hasText: 'tokens: 20000' }).waitFor();
  const first = await longer(partial(page), 20);
  const second = await longer(partial(page), first.length);
  expect(second.startsWith(first.slice(0, 20))).toBe(true);
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await partial(page).waitFor({ state: 'hidden' });
  await send(page, 'think: hm\nsay: all of it\ntokens: 800');
  await answer(page, 'all of it').waitFor();
  await partial(page).waitFor({ state: 'hidden' });
  expect((await answer(page, 'all of it').textContent())?.length).toBeGreaterThan(4_000);
  await settled(page);
  // The rows above have their heights already: the list does not move under the pointer when they come into view.
  await log(page).hover();
  await page.mouse.wheel(0, -1_000);
  await settled(page);
  await expect.poll(() => belowView(page)).toBeGreaterThan(100);
  await page.getByText('Thought', { exact: true }).click();
  await page.getByText('hm', { exact: true }).waitFor();
  expect(await field(page).inputValue()).toBe('');
});

/** While the answer is partial, however short that is for the page. */
const OPEN_THOUGHT = `new MutationObserver((_, observer) => {
  const thoughts = [...document.querySelectorAll('article[aria-label="Partial answer"] summary')];
  const thought = thoughts.find(({ textContent }) => textContent.trim() === 'Thought');
  if (thought === undefined) return;
  observer.disconnect();
  thought.click();
}).observe(document.body, { subtree: true, childList: true, characterData: true })`;

test('an opened thought stays open when its answer is complete, and when the list has unmounted it meanwhile', async () => {
  const { page } = await open();
  await page.evaluate(OPEN_THOUGHT);
  await send(page, 'think: let me see\nsay: first\ntokens: 40 over 4s');
  const thought = page.getByText('let me see', { exact: true });
  await answer(page, 'first').waitFor();
  await partial(page).waitFor({ state: 'hidden' });
  await thought.waitFor();
  await send(page, 'say: the other\ntokens: 6000');
  await answer(page, 'the other').waitFor();
  await send(page, 'say: the last');
  await answer(page, 'the last').waitFor();
  await expect.poll(() => thought.count()).toBe(0);
  await scrollToStart(page);
  await thought.waitFor();
});

test('an opened tool call stays open when the list has unmounted it meanwhile', async () => {
  const { page } = await open();
  await send(page, 'call: look_up {"word": "a"}\n---\nsay: looked up');
  await answer(page, 'looked up').waitFor();
  await settled(page);
  await page.getByRole('button', { name: 'look_up' }).click();
  const output = page.getByRole('region', { name: 'Output' });
  await output.waitFor();
  await send(page, 'say: the other\ntokens: 6000');
  await answer(page, 'the other').waitFor();
  await send(page, 'say: the last');
  await answer(page, 'the last').waitFor();
  await expect.poll(() => output.count()).toBe(0);
  await scrollToStart(page);
  await output.waitFor();
});

test('a partial answer is there after a reload, and in a second tab at once', async () => {
  const { page, address } = await open();
  await send(page, 'tokens: 20000 over 900s');
  const before = await longer(partial(page), 40);
  const other = await page.context().newPage();
  await other.goto(address);
  await page.reload();
  for (const tab of [page, other]) {
    const text = await longer(partial(tab), before.length);
    expect(text.startsWith(before.slice(0, 40))).toBe(true);
  }
  // An action in one tab is seen in the other.
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  for (const tab of [page, other]) await partial(tab).waitFor({ state: 'hidden' });
  await send(other, 'say: and now');
  for (const tab of [page, other]) await answer(tab, 'and now').waitFor();
});

test('a conversation opens at the end of a long answer that is still being written, and stays there', async () => {
  const { client, url } = platform();
  const { id } = await client.contexts.create({ title: 'long', worker: { name: 'long', role: 'clerk' } });
  await client.contexts.send(id, 'tokens: 3000\ntokens: 20000 over 900s');
  const page = await visit(`${url}/contexts/${id}`, { size: 'phone' });
  const first = await longer(partial(page), 10_000);
  const below = () => log(page).evaluate((list) => Math.round(list.scrollHeight - list.clientHeight - list.scrollTop));
  await expect.poll(below).toBeLessThan(48);
  await longer(partial(page), first.length + 200);
  await expect.poll(below).toBeLessThan(48);
  await page.getByRole('button', { name: 'Jump to latest' }).waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await partial(page).waitFor({ state: 'hidden' });
});

test('a running job is stopped, and the reason is seen at once', async () => {
  const { page, id } = await open();
  await send(page, 'tokens: 5000 over 300s');
  await longer(partial(page), 20);
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByRole('region', { name: 'Conversation' }).getByText('Idle').waitFor();
  await partial(page).waitFor({ state: 'hidden' });
  const [job] = await platform().client.jobs.list({ context_id: id }).all();
  expect(job?.status).toBe('interrupted');
});

test('an input that steers joins the waiting job', async () => {
  const { page, id } = await open();
  await send(page, 'ask: Go on? [yes | no]');
  const question = page.getByRole('region', { name: 'Tool ask_user' });
  await question.getByRole('button', { name: 'yes' }).waitFor();
  await page.getByRole('combobox', { name: 'Delivery' }).click();
  await page.getByRole('option', { name: /^Steer/ }).click();
  await send(page, 'say: steered');
  await place(page, 1).getByText('say: steered').waitFor();
  await question.getByRole('button', { name: 'yes' }).click();
  await question.getByText('Answer: yes').waitFor();
  await answer(page, 'steered').waitFor();
  await queue(page).waitFor({ state: 'hidden' });
  expect(await platform().client.jobs.list({ context_id: id }).all()).toHaveLength(1);
});

test('the next input need not wait for the reload of the lists after the one before', async () => {
  const { page } = await open();
  await page.route('**/api/contexts?*', () => undefined);
  await send(page, 'wait: 1h');
  for (const text of ['say: one', 'say: two']) {
    await send(page, text);
    await queue(page).getByText(text, { exact: true }).waitFor();
  }
});

test('a queued input is edited, moved and withdrawn, in every tab; an approval is given in place', async () => {
  const { page, id, address } = await open();
  await send(page, 'call: send_mail {"to": "alice", "text": "hi"}\n---\nsay: sent');
  const call = page.getByRole('region', { name: 'Tool send_mail' });
  await call.getByRole('button', { name: 'Approve' }).waitFor();
  await page.getByText('The job waits for a person to approve send_mail').waitFor();
  for (const text of ['say: one', 'say: two', 'say: three']) {
    await send(page, text);
    await queue(page).getByText(text, { exact: true }).waitFor();
  }
  await place(page, 1).getByRole('button', { name: 'Edit' }).click();
  await queue(page).getByRole('textbox').fill('say: uno');
  await queue(page).getByRole('textbox').press('Enter');
  await place(page, 1).getByText('say: uno').waitFor();
  await place(page, 3).getByRole('button', { name: 'Edit' }).focus();
  await page.keyboard.press('Alt+ArrowUp');
  await place(page, 2).getByText('say: three').waitFor();
  await place(page, 3).getByRole('button', { name: 'Withdraw' }).click();
  await queue(page).getByText('say: two').waitFor({ state: 'hidden' });

  const other = await page.context().newPage();
  await other.goto(address);
  await place(other, 2).getByText('say: three').waitFor();
  await call.getByRole('button', { name: 'Edit arguments' }).click();
  await call.getByRole('textbox', { name: 'Edited arguments' }).fill('{"to": "bob", "text": "hi"}');
  await call.getByRole('button', { name: 'Approve with edits' }).click();
  for (const tab of [page, other]) {
    await answer(tab, 'sent').waitFor();
    await answer(tab, 'uno').waitFor();
    await answer(tab, 'three').waitFor();
    await queue(tab).waitFor({ state: 'hidden' });
  }
  expect(await platform().effectsOf(id)).toEqual(['bob: hi']);
  await call.getByText('Completed').waitFor();
});

test('the reason of a denial reaches the model', async () => {
  const { page } = await open();
  await send(page, 'call: send_mail {"to": "carol", "text": "hi"}\n---\nsay: done');
  const call = page.getByRole('region', { name: 'Tool send_mail' });
  await call.getByRole('button', { name: /^Deny/ }).click();
  await call.getByRole('textbox', { name: 'Reason' }).fill('not on Fridays');
  await call.getByRole('button', { name: 'Deny', exact: true }).click();
  await answer(page, 'done').waitFor();
  await call.getByText('Denied').waitFor();
  await call.getByRole('button', { name: 'send_mail' }).click();
  await call.getByRole('region', { name: 'Output' }).getByText('not on Fridays').waitFor();
});

test('an answer of the API that others overtook replaces nothing', async () => {
  const { page, id } = await open();
  const { client } = platform();
  await send(page, 'call: send_mail {"to": "erin", "text": "hi"}\n---\nsay: done');
  const call = page.getByRole('region', { name: 'Tool send_mail' });
  await call.getByRole('button', { name: /^Deny/ }).waitFor();
  const callId = (await call.getAttribute('data-call')) ?? '';
  const waiting = await client.tools.get(id, callId);
  // The page asks for the call after its decision was refused. Then another client decides: what events tell of it is
  // asked for later, and answered first.
  excuse(/403/);
  const refusal = { type: '', code: 'forbidden', message: 'No.', param: null };
  await page.route(
    `**/api/contexts/${id}/tools/approve`,
    (route) => route.fulfill({ status: 403, json: { title: '', detail: '', error: refusal } }),
    { times: 1 },
  );
  const asked = Promise.withResolvers<Request>();
  const overtaken = Promise.withResolvers<void>();
  await page.route(`**/tools/${callId}`, async (route) => {
    asked.resolve(route.request());
    await overtaken.promise;
    await route.fulfill({ json: waiting });
  });
  await call.getByRole('button', { name: /^Deny/ }).click();
  await call.getByRole('button', { name: 'Deny', exact: true }).click();
  const late = await asked.promise;
  await client.tools.approve(id, { tool_call_id: callId, decision: 'deny' });
  await answer(page, 'done').waitFor();
  await call.getByText('Denied').waitFor();
  overtaken.resolve();
  await (await late.response())?.finished();
  await settled(page);
  expect(await call.getByText('Denied').isVisible()).toBe(true);
});

test('a spawned worker links to its context', async () => {
  const { page } = await open();
  await send(page, 'call: spawn_worker {"input": "say: read", "name": "reader"}\n---\nsay: all done');
  await answer(page, 'all done').waitFor();
  await page
    .getByRole('link', { name: /^reader/ })
    .and(log(page).getByRole('link'))
    .click();
  await page.getByRole('heading', { level: 1, name: 'reader' }).waitFor();
  await answer(page, 'read').waitFor();
});

test('a failure shows its reason, and is retried', async () => {
  const { page, id } = await open();
  await send(page, 'fail: bad_request');
  await page.getByText('The last job failed').waitFor();
  const jobs = async (): Promise<string[]> => {
    const all = await platform().client.jobs.list({ context_id: id }).all();
    return all.map(({ kind, status }) => `${kind} ${status}`);
  };
  expect(await jobs()).toEqual(['input failed']);
  await page.getByRole('button', { name: 'Retry' }).click();
  await expect.poll(jobs).toEqual(['retry failed', 'input failed']);
  await send(page, 'say: better');
  await answer(page, 'better').waitFor();
  await page.getByText('The last job failed').waitFor({ state: 'hidden' });
});

/** Whether a click that follows a scroll at once reaches a message. */
const HITS_WHILE_SCROLLING = `(async () => {
  const list = document.querySelector('[role="log"]');
  list.scrollBy(0, 20);
  for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
  const { x, y, width, height } = list.getBoundingClientRect();
  const points = Array.from({ length: 20 }, (_, n) => document.elementFromPoint(x + width / 2, y + (height * n) / 20));
  return points.some((point) => point !== null && point.closest('article') !== null);
})()`;

test('a long history is shown one window at a time', async () => {
  const { client, url } = platform();
  // More than the window keeps.
  const count = depth(220, 300);
  const { id } = await client.contexts.import({ title: 'long', entries: pairs(count) });
  const page = await visit(`${url}/contexts/${id}`);
  await answer(page, `answer ${count - 1}`).waitFor();
  const begin = page.getByText('question 0', { exact: true });
  const atBegin = async (): Promise<boolean> => {
    await scrollToStart(page);
    return begin.isVisible();
  };
  await expect.poll(atBegin).toBe(true);
  expect(await page.evaluate<boolean>(HITS_WHILE_SCROLLING)).toBe(true);
  expect(await page.getByRole('article').count()).toBeLessThan(60);
  await send(page, 'say: the end');
  await page.getByRole('button', { name: 'Jump to latest' }).click();
  await answer(page, 'the end').waitFor();
  await answer(page, `answer ${count - 1}`).waitFor();

  const { data } = await client.contexts.messages.list(id, { limit: 200 }).page();
  await page.goto(`${url}/contexts/${id}?message=${data[151]?.id ?? ''}`);
  await answer(page, 'answer 75').waitFor();
  const atEnd = async (): Promise<boolean> => {
    await log(page).evaluate((list) => list.scrollTo(0, list.scrollHeight));
    return answer(page, 'the end').isVisible();
  };
  await expect.poll(atEnd).toBe(true);
});

/**
 * Where the latest message is requested at the same time as the idle list drops it. The list at its beginning is not idle
 * before its first message is shown.
 */
const PRESS_AT_REST = `{
  const REST_MS = 150;
  const later = setTimeout;
  const rest = (act, given) => {
    const isShown = document.body.textContent.includes('question 0');
    if (!isShown && document.querySelector('[role=log]')?.scrollTop === 0) {
      later(rest, REST_MS, act, given);
      return;
    }
    act(...given);
    if (globalThis.isPressed || !isShown) return;
    const jump = [...document.querySelectorAll('button')].find((one) => one.textContent.includes('Jump to'));
    globalThis.isPressed = jump !== undefined;
    jump?.click();
  };
  globalThis.setTimeout = (act, ms, ...given) =>
    ms === REST_MS ? later(rest, ms, act, given) : later(act, ms, ...given);
}`;

test('the link to the latest message works though the list drops it at the same time', async () => {
  const { client, url } = platform();
  // More than the window keeps, by less than one page: the list drops its end once it is at the beginning.
  const { id } = await client.contexts.import({ title: 'dropped', entries: pairs(205) });
  const page = await visit(`${url}/healthz`);
  await page.addInitScript(PRESS_AT_REST);
  await page.goto(`${url}/contexts/${id}`);
  await answer(page, 'answer 204').waitFor();
  const isPressed = () =>
    page.evaluate<boolean>(`(() => {
      if (!globalThis.isPressed) document.querySelector('[role=log]').scrollTop = 0;
      return globalThis.isPressed === true;
    })()`);
  await expect.poll(isPressed).toBe(true);
  await answer(page, 'answer 204').waitFor();
});

test('the link to a message works though the list is reloaded meanwhile', async () => {
  const { client, url } = platform();
  const { id } = await client.contexts.import({ title: 'sought', entries: pairs(100) });
  const { data } = await client.contexts.messages.list(id, { limit: 200 }).page();
  const page = await visit(`${url}/healthz`);
  // The stream is open once the message was requested; the reload comes after it.
  const asked = Promise.withResolvers<void>();
  const again = Promise.withResolvers<void>();
  const found = Promise.withResolvers<void>();
  let reads = 0;
  let left = 2;
  page.on('requestfinished', (request) => {
    if (request.url().includes('from=') && --left === 0) found.resolve();
  });
  await page.route(`**/api/contexts/${id}/events*`, async (route) => {
    await asked.promise;
    await route.continue();
  });
  await page.route(`**/api/contexts/${id}/messages?*`, async (route) => {
    const { searchParams } = new URL(route.request().url());
    if (searchParams.has('from')) {
      asked.resolve();
      await again.promise;
    } else if (searchParams.get('limit') === '60' && (reads += 1) === 2) {
      again.resolve();
      await found.promise;
    }
    await route.continue();
  });
  await page.goto(`${url}/contexts/${id}?message=${data[51]?.id ?? ''}`);
  await found.promise;
  await answer(page, 'answer 25').waitFor();
  await page.unrouteAll({ behavior: 'wait' });
});

test('messages that arrive while a conversation opens are not missed', async () => {
  const { client, url } = platform();
  const { id } = await client.contexts.create({
    title: 'opening',
    worker: { name: 'opening', role: 'clerk' },
  });
  const page = await visit(`${url}/healthz`);
  // The list was read before the message exists, and arrives once the stream is open, which has no event for it.
  const read = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  const stands = page.waitForResponse(`**/api/contexts/${id}/events*`);
  await page.route(`**/api/contexts/${id}/events*`, async (route) => {
    await done.promise;
    await route.continue();
  });
  await page.route(
    `**/api/contexts/${id}/messages?*limit=60*`,
    async (route) => {
      const response = await route.fetch();
      read.resolve();
      await stands;
      await route.fulfill({ response });
    },
    { times: 1 },
  );
  await page.goto(`${url}/contexts/${id}`);
  await read.promise;
  await client.contexts.run(id, { input: 'say: meanwhile' });
  done.resolve();
  await answer(page, 'meanwhile').waitFor();
});

test('a draft is kept for each context', async () => {
  const { page, address } = await open();
  await field(page).fill('half a thought');
  await page.goto(platform().url);
  await page.getByRole('heading', { name: 'No context selected' }).waitFor();
  await page.goto(address);
  await field(page).waitFor();
  expect(await field(page).inputValue()).toBe('half a thought');
});

for (const { theme, size } of LOOKS) {
  test(`a conversation is accessible and fits: ${theme}, ${size}`, async () => {
    const { client, url } = platform();
    const { id } = await client.contexts.create({
      title: 'looks',
      worker: { name: 'looks', role: 'clerk' },
    });
    const script = [
      'think: hm\nsay: "**Bold** and `code`\\n\\n```ts\\nconst a = 1;\\n```"\ncall: look_up {"word": "a"}',
      'call: send_mail {"to": "dora", "text": "hi"}\nask: Which? [red | blue]',
    ];
    await client.contexts.send(id, script.join('\n---\n'));
    const page = await visit(`${url}/contexts/${id}`, { theme, size });
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await page.getByRole('button', { name: 'blue' }).waitFor();
    await settled(page);
    await page.getByRole('region', { name: 'Tool look_up' }).getByRole('button', { name: 'look_up' }).click();
    await page.getByRole('region', { name: 'Output' }).waitFor();
    await expectAccessible(page);
    await expectFits(page);
  });
}
