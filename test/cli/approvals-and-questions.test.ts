// Approvals and questions from the command line: in place at a terminal, and from another one.
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { InboxItem, Job } from '../../src/client/index.ts';
import { MAIN, openPlatform, start, type Platform } from './command-line.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform();
});
afterAll(() => platform.close());

const SCRIPT = ['ask: which? [red | blue]', 'call: remember {"key": "k", "value": "v"}', 'say: done'].join('\n---\n');

/** A context where `remember` asks first. */
async function cautious(): Promise<string> {
  const { id } = await platform.client.contexts.create({
    config: { tools: ['ask_user', 'remember'], approval: [{ tool: 'remember', decision: 'always' }] },
  });
  return id;
}

async function waiting(contextId: string): Promise<InboxItem> {
  const { data } = await platform.json<{ data: InboxItem[] }>(['inbox', '--json']);
  const item = data.find((one) => one.context_id === contextId);
  if (item === undefined) throw new Error('no item waits there');
  return item;
}

describe('without a terminal', () => {
  test('run prints how to answer, and continues after the answer', async () => {
    const running = platform.start(['run', SCRIPT, '--context', await cautious()]);
    const [, question = ''] = await running.says('err', /nightshift answer (\S+)/);
    expect(running.output().err).toContain('which? [red | blue]');
    expect((await platform.run(['answer', question, 'blue'])).code).toBe(0);
    const [, call = ''] = await running.says('err', /nightshift approve (\S+)/);
    const wrong = await platform.run(['answer', call, 'yes']);
    expect(wrong.code).toBe(1);
    expect(wrong.err).toContain('nightshift approve');
    expect(await platform.run(['approve', call])).toMatchObject({ code: 0, out: '1 call approved.\n' });
    expect(await running.done).toMatchObject({ code: 0, out: 'done\n' });
    expect((await platform.run(['approve', call])).code).toBe(1);
  });

  test('--yes approves calls that need approval', async () => {
    const { code, out, err } = await platform.run([
      'run',
      'call: remember {"key": "k", "value": "v"}\n---\nsay: done',
      '--yes',
      '--context',
      await cautious(),
    ]);
    expect({ code, out }).toEqual({ code: 0, out: 'done\n' });
    expect(err).toContain('approved (--yes)');
  });

  test('--no-input exits with 6 where a person is needed; the job waits', async () => {
    const contextId = await cautious();
    const { code, err } = await platform.run(['run', SCRIPT, '--no-input', '--context', contextId]);
    expect(code).toBe(6);
    expect(err).toContain('The job keeps running');
    const { job_id, kind } = await waiting(contextId);
    expect(kind).toBe('input');
    // The question is told before the run has released the context.
    const statusOf = async () => (await platform.json<{ job: Job }>(['job', job_id, '--json'])).job.status;
    await expect.poll(statusOf).toBe('waiting');
    await platform.client.jobs.cancel(job_id, { wait_ms: 30_000 });
  });

  test('deny gives the model a reason; approve takes other input; --all needs its context', async () => {
    const contextId = await cautious();
    const call = 'call: remember {"key": "k", "value": "v"}';
    const denied = platform.start(['run', `${call}\n---\nsay: done`, '--context', contextId]);
    const [, first = ''] = await denied.says('err', /nightshift approve (\S+)/);
    expect((await platform.run(['deny', first, '--reason', 'not now'])).out).toBe('1 call denied.\n');
    expect((await denied.done).code).toBe(0);
    const changed = platform.start(['run', `${call}\n---\nsay: done`, '--context', contextId]);
    const [, second = ''] = await changed.says('err', /nightshift approve (\S+)/);
    expect((await platform.run(['approve', second, '--input', '{'])).code).toBe(2);
    const input = JSON.stringify({ key: 'other', value: 'w' });
    const resolved = await platform.json(['approve', second, '--input', input, '--json']);
    expect(resolved).toEqual({ resolved: [second] });
    expect((await changed.done).code).toBe(0);
    const logs = await platform.run(['logs', contextId]);
    expect(logs.out).toContain('not now');
    expect(await platform.client.tools.get(contextId, second)).toMatchObject({ run_input: { key: 'other' } });
    expect((await platform.run(['approve', '--all'])).code).toBe(2);
    expect((await platform.run(['approve'])).code).toBe(2);
    // Nothing waits any more.
    expect((await platform.run(['deny', '--all', '--context', contextId])).code).toBe(1);
  });
});

/** A terminal for a process: util-linux's `script`. */
const isThere = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0;

describe.skipIf(!isThere)('at a terminal', () => {
  test('run asks in place, one after the other', async () => {
    const env = { ...platform.env, CONTEXT: await cautious(), TASK: SCRIPT, NO_COLOR: '1' };
    const line = `exec "${process.execPath}" "${MAIN}" run "$TASK" --context "$CONTEXT"`;
    const running = start(['run'], env, { command: ['script', '-qec', line, '/dev/null'] });
    await running.says('out', /number of a choice: /);
    running.write('2\r');
    await running.says('out', /\[l\]ater: /);
    running.write('perhaps\r');
    await running.says('out', /\[l\]ater: [\s\S]*\[l\]ater: /);
    running.write('y\r');
    const { code, out } = await running.done;
    expect(code).toBe(0);
    expect(out).toMatch(/done\r?\n/);
    expect(out).toContain('✓ completed');
  });
});
