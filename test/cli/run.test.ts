// `nightshift run` as a process: its output on each stream, its exit codes, and Ctrl-C.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { safe } from '../../src/cli/terminal/safe.ts';
import type { Accepted, Job } from '../../src/client/index.ts';
import { KEY, openPlatform, run, type Platform } from './command-line.ts';
import { openLateCancels } from './late-cancels.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform();
});
afterAll(() => platform.close());

const NEVER = 'call: sleep_until {"seconds": 86400}';
const LONG = 'tokens: 100000 over 3600s';

async function jobOf(err: string): Promise<Job> {
  return platform.client.jobs.get(/job (\S+)/.exec(err)?.[1] ?? '');
}

describe('the output', () => {
  test('has the answer alone on stdout; the job, its tools and its end on stderr', async () => {
    const script = 'say: a moment\ncall: remember {"key": "k", "value": "v"}\n---\nsay: done';
    const { code, out, err } = await platform.run(['run', script, '--tool', 'remember']);
    expect({ code, out }).toEqual({ code: 0, out: 'done\n' });
    expect(err).toMatch(/^job \S+ · context \S+$/m);
    expect(err).toContain('→ remember {"key":"k","value":"v"}');
    expect(err).toMatch(/✓ remember/);
    expect(err).toMatch(/✓ completed .* 2 steps/);
  });

  test('has all text as it is written, with --stream', async () => {
    const { code, out } = await platform.run([
      'run',
      '--stream',
      '--tool=recall',
      'say: first\ncall: recall {}\n---\nsay: last',
    ]);
    expect({ code, out }).toEqual({ code: 0, out: 'first\nlast\n' });
  });

  test("has the model's thinking, with --thinking", async () => {
    const { out, err } = await platform.run(['run', '--stream', '--thinking', 'think: hm, hm\nsay: so']);
    expect(out).toBe('so\n');
    expect(err).toContain('hm, hm');
  });

  test('is one document on stdout with --json, and nothing else', async () => {
    const job = await platform.json<Job>(['run', 'say: hi', '--json', '--metadata', 'batch=7']);
    expect(job).toMatchObject({ status: 'completed', output: { text: 'hi' }, metadata: { batch: 7 } });
    const failed = await platform.run(['run', 'fail: auth', '--json']);
    expect(failed.code).toBe(1);
    expect(JSON.parse(failed.out)).toMatchObject({ status: 'failed', error: { code: 'provider_auth' } });
  });

  test('has nothing on stderr with --quiet', async () => {
    expect(await platform.run(['run', 'say: hi', '--quiet'])).toEqual({ code: 0, out: 'hi\n', err: '' });
  });

  test('has no control sequence of a terminal, whatever its source', async () => {
    const { out } = await platform.run(['run', '--stream', String.raw`say: "\u001b[2J\u009b31m\u202ered\u0007"`]);
    expect(out).toBe('␛[2J\uFFFD31mred␇\n');
    const json = await platform.run(['run', '--json', String.raw`say: "\u001b[2J\u009b31m"`]);
    expect(safe(json.out)).toBe(json.out);
    expect(JSON.parse(json.out)).toMatchObject({ output: { text: '\u001b[2J\u009b31m' } });
  });

  test('has the work of spawned workers, with their names before it', async () => {
    const child = JSON.stringify({ input: 'call: recall {}\n---\nsay: ok', name: 'kid', tools: ['recall'] });
    const { code, err } = await platform.run([
      'run',
      `call: spawn_worker ${child}\n---\nsay: done`,
      '--tool=spawn_worker,recall',
    ]);
    expect(code).toBe(0);
    expect(err).toMatch(/⤷ worker kid/);
  });

  test('has colour only on request: a pipe gets none', async () => {
    const plain = await platform.run(['run', 'say: hi']);
    expect(plain.err).not.toContain('\u001b');
    const forced = await run(['run', 'say: hi'], { ...platform.env, FORCE_COLOR: '1' });
    expect(forced.err).toContain('\u001b[');
    const none = await run(['run', 'say: hi'], { ...platform.env, NO_COLOR: '1' });
    expect(none.err).not.toContain('\u001b');
  });
});

describe('the task', () => {
  test('comes from standard input, or from a file', async () => {
    expect(await platform.run(['run', '-', '-q'], 'say: piped\n')).toMatchObject({ code: 0, out: 'piped\n' });
    const file = path.join(platform.folder, 'task.md');
    await writeFile(file, 'say: filed');
    expect(await platform.run(['run', '-q', '--file', file])).toMatchObject({ code: 0, out: 'filed\n' });
  });

  test('goes to an existing worker, by id or name, or into a context', async () => {
    const worker = await platform.client.workers.create({ name: 'ada', config: {} });
    for (const where of [
      ['--worker', worker.id],
      ['--worker', 'ada'],
      ['--context', worker.context_id],
    ]) {
      const job = await platform.json<Job>(['run', 'say: here', '--json', ...where]);
      expect(job).toMatchObject({ worker_id: worker.id, output: { text: 'here' } });
    }
    await platform.client.workers.create({ name: 'ada', config: {} });
    const { code, err } = await platform.run(['run', 'say: who', '--worker', 'ada']);
    expect(code).toBe(1);
    expect(err).toContain(worker.id);
  });
});

describe('the exit code is', () => {
  test('0 with a completed job, 1 with a failed one, 4 with one that met a limit', async () => {
    expect((await platform.run(['run', 'say: hi'])).code).toBe(0);
    expect((await platform.run(['run', 'fail: auth'])).code).toBe(1);
    expect((await platform.run(['run', 'call: recall {}', '--tool=recall', '--max-steps=1'])).code).toBe(4);
    expect((await platform.run(['run', NEVER, '--tool=sleep_until', '--deadline=200ms'])).code).toBe(4);
  });

  test('5 with a cancelled job', async () => {
    const running = platform.start(['run', NEVER, '--tool', 'sleep_until']);
    const [, id = ''] = await running.says('err', /^job (\S+)/);
    await running.says('err', /→ sleep_until/);
    const { code, out } = await platform.run(['cancel', id, '--reason', 'no need']);
    expect({ code, out }).toEqual({ code: 0, out: `${id}: cancelled.\n` });
    expect((await running.done).code).toBe(5);
  });

  test('2 where the arguments are wrong, with nothing on stdout', async () => {
    for (const args of [
      ['run'],
      ['run', 'a', 'b'],
      ['run', '   '],
      ['run', 'a', '--bogus'],
      ['run', 'a', '--max-steps', 'many'],
      ['run', 'a', '--worker', 'x', '--model', 'simulated/x'],
      ['run', 'a', '--detach', '--yes'],
      ['run', 'a', '--branch', 'main'],
      ['run', 'a', '--delivery', 'steer'],
      ['run', '--file', '/no/such/file'],
      ['run', 'say: hi', '--model', 'unknown/model'],
      ['run', 'say: hi', '--role', 'nobody'],
      ['nonsense'],
      ['start', 'now'],
    ]) {
      const { code, out, err } = await platform.run(args);
      expect({ args, code, out }).toEqual({ args, code: 2, out: '' });
      expect(err).not.toBe('');
    }
  });

  test('3 where the API is not reachable, or does not accept the key, which is never printed', async () => {
    const away = await run(['run', 'say: hi', '--json'], { NIGHTSHIFT_URL: 'http://127.0.0.1:1' });
    expect(away).toMatchObject({ code: 3, out: '' });
    expect(away.err).toContain('NIGHTSHIFT_URL');
    const wrong = await run(['status'], { ...platform.env, NIGHTSHIFT_API_KEY: 'wrong-key' });
    expect(wrong).toMatchObject({ code: 3, out: '' });
    expect(wrong.err).toContain('NIGHTSHIFT_API_KEY');
    expect(wrong.err).not.toContain('wrong-key');
    expect((await run(['status'], { NIGHTSHIFT_URL: platform.url })).code).toBe(3);
    expect((await run(['status'], { ...platform.env, NIGHTSHIFT_URL: 'nonsense' })).code).toBe(2);
    expect((await run(['status', '--url', platform.url], { NIGHTSHIFT_API_KEY: KEY })).code).toBe(0);
  });

  test('set without a message where stdout is closed', async () => {
    const running = platform.start(['help']);
    running.deafen();
    expect(await running.done).toMatchObject({ code: 141, err: '' });
  });
});

describe('Ctrl-C', () => {
  test('cancels the job, waits for the receipt and reports it', async () => {
    const running = platform.start(['run', LONG, '--stream']);
    await running.says('out', /night/);
    running.signal('SIGINT');
    const { code, err } = await running.done;
    expect(code).toBe(130);
    expect(err).toContain('Cancelling');
    expect(err).toMatch(/The job stopped at/);
    expect(await jobOf(err)).toMatchObject({ status: 'cancelled' });
  });

  test('waits for a receipt that comes after the end of the job', async () => {
    const late = await openLateCancels(platform.url);
    const running = platform.start(['run', LONG, '--stream'], { NIGHTSHIFT_URL: late.url });
    await running.says('out', /night/);
    running.signal('SIGINT');
    const { code, err } = await running.done;
    expect(code).toBe(130);
    expect(err).toMatch(/The job stopped at [\s\S]*✗ cancelled/);
    await late.close();
  });

  test('with --keep exits, and the job continues', async () => {
    const running = platform.start(['run', LONG, '--stream', '--keep']);
    await running.says('out', /night/);
    running.signal('SIGINT');
    const { code, err } = await running.done;
    expect(code).toBe(130);
    expect(err).toMatch(/The job keeps running\. Follow it: nightshift logs -f/);
    const job = await jobOf(err);
    expect(job).toMatchObject({ status: 'running' });
    await platform.client.jobs.cancel(job.id, { wait_ms: 30_000 });
  });

  test('a SIGTERM does the same, and ends with 143', async () => {
    const running = platform.start(['run', LONG, '--stream']);
    await running.says('out', /night/);
    running.signal('SIGTERM');
    const { code, err } = await running.done;
    expect(code).toBe(143);
    expect(await jobOf(err)).toMatchObject({ status: 'cancelled' });
  });
});

describe('--detach', () => {
  test("prints the job's id, and `job --wait` ends as the job ends", async () => {
    const { code, out, err } = await platform.run(['run', 'say: later', '--detach']);
    expect(code).toBe(0);
    expect(err).toContain('nightshift logs -f');
    const waited = await platform.run(['job', out.trim(), '--wait']);
    expect(waited.code).toBe(0);
    expect(waited.out).toMatch(/later\n$/);
    const failed = await platform.json<{ job_id: string }>(['run', 'fail: auth', '--detach', '--json']);
    expect((await platform.run(['job', failed.job_id, '--wait', '--json'])).code).toBe(1);
    expect((await platform.run(['job', failed.job_id])).code).toBe(0);
  });
});

describe('--after and --at', () => {
  test('print the job, which is delayed, in a new worker and in a context; a time that has passed means at once', async () => {
    const later = await platform.json<Accepted>(['run', 'say: later', '--after', '1h', '--json']);
    expect(later.status).toBe('delayed');
    expect(await platform.client.jobs.get(later.job_id)).toMatchObject({ status: 'delayed' });
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const inContext = ['run', 'say: later', '--context', later.context_id, '--at', at, '--json'];
    const second = await platform.json<Accepted>(inContext);
    expect(second.status).toBe('delayed');
    expect(await platform.client.jobs.get(second.job_id)).toMatchObject({ status: 'delayed', starts_at: at });
    const past = await platform.json<Accepted>(['run', 'say: now', '--at', '2020-01-31T08:00:00Z', '--json']);
    expect(past.status).toBe('queued');
    expect(await platform.client.jobs.wait(past.job_id)).toMatchObject({ status: 'completed', starts_at: null });
  });

  test('need no right to read', async () => {
    const { key } = await platform.client.keys.create({ name: 'runs only', scopes: ['run'] });
    const env = { ...platform.env, NIGHTSHIFT_API_KEY: key };
    const { code, out } = await run(['run', 'say: later', '--after', '1h'], env);
    expect(code).toBe(0);
    expect(await platform.client.jobs.get(out.trim())).toMatchObject({ status: 'delayed' });
  });
});
