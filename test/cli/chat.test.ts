// `nightshift chat` through pipes: one line in, one answer out; slash commands; Ctrl-C.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPlatform, type Platform } from './command-line.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform();
});
afterAll(() => platform.close());

test('answers line after line, and ends with its input', async () => {
  const { code, out } = await platform.run(['chat'], 'say: hello\n\n/wrong\nsay: two \\\nsay: three\n//x\n');
  expect(code).toBe(0);
  expect(out).toMatch(/^hello\ntwo\nthree\n.*\/x\n/);
});

test('continues an existing conversation, on branches, too', async () => {
  const { id } = await platform.client.contexts.create({});
  await platform.run(['chat', '--context', id], 'say: one\n');
  const { code, err } = await platform.run(
    ['chat', '--context', id],
    '/branch side\nsay: two\n/branch\n/branch main\n/context\n/help\n/quit\n',
  );
  expect(code).toBe(0);
  expect(err).toContain('› say: one');
  expect(err).toMatch(/\* side/);
  expect(err).toMatch(/branch main · Idle/);
  expect(err).toContain('/steer <text>');
  const { active_branch, branches } = await platform.client.contexts.get(id);
  expect({ active_branch, branches }).toEqual({ active_branch: 'main', branches: ['main', 'side'] });
});

test('asks in the conversation: the next line is the answer', async () => {
  const { id } = await platform.client.contexts.create({
    config: { tools: ['ask_user', 'remember'], approval: [{ tool: 'remember', decision: 'always' }] },
  });
  const talk = platform.start(['chat', '--context', id]);
  talk.write('ask: which? [red | blue]\n');
  await talk.says('err', /which\? \[red \| blue\]/);
  talk.write('2\n');
  await talk.says('out', /blue/);
  talk.write('call: remember {"key": "k", "value": "v"}\n');
  await talk.says('err', /May remember run\?/);
  talk.write('perhaps\n');
  await talk.says('err', /\[y\]es[\s\S]*\[y\]es/);
  talk.write('y\n');
  await talk.says('err', /✓ remember/);
  talk.end();
  expect((await talk.done).code).toBe(0);
});

test('shows the work of spawned workers; the next line answers their questions', async () => {
  const { id } = await platform.client.contexts.create({ config: { tools: ['spawn_worker', 'ask_user'] } });
  const kid = JSON.stringify({ name: 'kid', input: 'ask: which? [red | blue]', tools: ['ask_user'] });
  const talk = platform.start(['chat', '--context', id]);
  talk.write(`call: spawn_worker ${kid}\\\n---\\\nsay: told\n`);
  await talk.says('err', /⤷ worker kid/);
  await talk.says('err', /\? kid: which\? \[red \| blue\]/);
  talk.write('2\n');
  await talk.says('err', /kid: ✓ ask_user/);
  await talk.says('out', /told/);
  talk.end();
  expect((await talk.done).code).toBe(0);
  const [job] = (await platform.client.jobs.list({ context_id: id }).page()).data;
  const [child] = (await platform.client.jobs.list({ parent_job_id: job?.id ?? '' }).page()).data;
  expect(child).toMatchObject({ status: 'completed', output: { text: expect.stringContaining('blue') } });
});

test('a first Ctrl-C interrupts the answer, a second one exits', async () => {
  const { id } = await platform.client.contexts.create({});
  const talk = platform.start(['chat', '--context', id]);
  talk.write('tokens: 100000 over 3600s\n');
  await talk.says('out', /night/);
  talk.signal('SIGINT');
  await talk.says('err', /✗ interrupted/);
  expect(await platform.client.contexts.state(id)).toMatchObject({ state: 'Idle' });
  talk.signal('SIGINT');
  expect((await talk.done).code).toBe(130);
});
