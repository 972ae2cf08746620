// Commands that read, stop and export: their output, and the JSON for programs.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Context, Job, SearchResult, Stats, WorkerTree } from '../../src/client/index.ts';
import { openPlatform, run, runProcess, type Platform } from './command-line.ts';

let platform: Platform;
let contextId = '';
let workerId = '';
let job: Job;

beforeAll(async () => {
  platform = await openPlatform();
  const worker = await platform.client.workers.create({ name: '夜の番人 🌙', config: { tools: ['recall'] } });
  [contextId, workerId] = [worker.context_id, worker.id];
  const script = 'say: a purple elephant\ncall: recall {}\n---\nsay: 夜が明ける';
  job = await platform.client.contexts.run(contextId, { input: script });
});
afterAll(() => platform.close());

type List<Item> = { data: Item[] };
const NEVER = { content: 'tokens: 100000 over 3600s' };

describe('status and lists', () => {
  test('status shows the state of the platform', async () => {
    const { code, out } = await platform.run(['status']);
    expect(code).toBe(0);
    expect(out).toMatch(/ready\nJobs: \d+ queued, \d+ running, \d+ waiting\n/);
    const standing = () => platform.json<{ readiness: { status: string }; stats: Stats }>(['status', '--json']);
    // The platform's own example makes a worker with a job, which may still be queued.
    await expect.poll(standing, { interval: 50, timeout: 60_000 }).toMatchObject({
      health: 'ok',
      readiness: { postgres: 'ok' },
      stats: { queue_depth: 0 },
    });
  });

  test('jobs lists and filters; its columns are aligned', async () => {
    const { out } = await platform.run(['jobs', '--worker', workerId]);
    const [head = '', line = ''] = out.split('\n');
    expect(line.indexOf('completed')).toBe(head.indexOf('STATUS'));
    const all = await platform.json<List<Job>>(['jobs', '--context', contextId, '--since', '1d', '--json']);
    expect(all.data.map(({ id }) => id)).toEqual([job.id]);
    const none = await platform.json<List<Job>>(['jobs', '--context', contextId, '--status', 'failed', '--json']);
    expect(none).toEqual({ data: [] });
    expect((await platform.run(['jobs', '--context', contextId, '--status', 'failed'])).out).toBe('No jobs.\n');
    expect((await platform.run(['jobs', '--status', 'nonsense'])).code).toBe(2);
  });

  test('job shows one job in full, with its timeline', async () => {
    const { code, out } = await platform.run(['job', job.id]);
    expect(code).toBe(0);
    for (const part of [job.id, contextId, 'model simulated/default', 'tool recall', '夜が明ける'])
      expect(out).toContain(part);
    const shown = await platform.json<{ job: Job; steps: unknown[] }>(['job', job.id, '--json']);
    expect(shown).toMatchObject({ job: { id: job.id, status: 'completed' } });
    expect(shown.steps).toHaveLength(3);
    expect((await platform.run(['job', '01900000-0000-7000-8000-000000000000'])).code).toBe(1);
  });

  test('workers, contexts, roles and trees are listed', async () => {
    const workers = await platform.run(['workers', '--state', 'inactive', '--limit', '200']);
    expect(workers.out).toContain('夜の番人 🌙');
    const contexts = await platform.json<List<Context>>(['contexts', '--json', '--limit', '500']);
    expect(contexts.data.map(({ id }) => id)).toContain(contextId);
    expect((await platform.run(['roles'])).out).toBe('No roles.\n');
    await platform.client.roles.put('support', { system_prompt: 'You help.', tools: ['recall'] });
    expect((await platform.run(['roles'])).out).toMatch(/support +api v1 +– +recall +You help\./);
    await platform.client.workers.create({ name: 'kid', parent_worker_id: workerId, config: {} });
    const tree = await platform.run(['tree', '夜の番人 🌙']);
    expect(tree.out).toMatch(/\n└─ kid {2,}inactive/);
    const shown = await platform.json<WorkerTree>(['tree', workerId, '--json']);
    expect(shown.children).toMatchObject([{ name: 'kid' }]);
    expect((await platform.run(['tree', 'nobody'])).code).toBe(1);
  });

  test('run, job, jobs, contexts and tree show the cost; without a known price there is none', async () => {
    const { client } = platform;
    const { err } = await platform.run(['run', 'say: a pricey owl', '--model', 'simulated/priced']);
    const [paid] = (await client.jobs.list({ limit: 1 }).page()).data;
    const { cost = null, input_tokens = 0, output_tokens = 0 } = paid?.usage ?? {};
    expect(cost).toMatch(/^\d+\.\d{2,3}$/);
    expect(Number(cost) * 1_000).toBeCloseTo(input_tokens + output_tokens, 6);
    expect(err).toContain(` tokens · $${cost}\n`);
    for (const args of [
      ['job', paid?.id ?? ''],
      ['jobs', '--limit', '1'],
      ['contexts'],
      ['tree', paid?.worker_id ?? ''],
    ])
      expect((await platform.run(args)).out).toContain(`$${cost}`);
    expect((await platform.run(['job', job.id])).out).not.toContain('$');
    expect((await platform.run(['run', 'say: free', '--model', 'simulated/other'])).err).not.toContain('$');
  });

  test('jobs are found by role, kind and metadata', async () => {
    const { client } = platform;
    await client.roles.put('sorter', { model: 'simulated/x' });
    const { context_id } = await client.workers.create({ name: 'sorter', role: 'sorter' });
    const sent = [7, 8].map((batch) =>
      client.contexts.send(context_id, { content: 'say: sorted', metadata: { batch } }),
    );
    const [seven, eight] = (await Promise.all(sent)).map(({ job_id }) => job_id);
    const found = async (...args: string[]): Promise<Set<string>> => {
      const { data } = await platform.json<List<Job>>(['jobs', '--json', ...args]);
      return new Set(data.map(({ id }) => id));
    };
    expect(await found('--role', 'sorter')).toEqual(new Set([seven, eight]));
    expect(await found('--role', 'sorter', '--metadata', 'batch=7')).toEqual(new Set([seven]));
    expect(await found('--metadata', 'batch=8', '--kind', 'input')).toEqual(new Set([eight]));
    expect(await found('--metadata', 'batch=8', '--kind', 'retry')).toEqual(new Set());
    expect((await platform.run(['jobs', '--metadata', 'batch'])).code).toBe(2);
  });

  test('search finds messages', async () => {
    const search = ['search', 'purple', 'elephant', '--from', 'assistant'];
    await expect
      .poll(async () => (await platform.json<List<SearchResult>>([...search, '--json'])).data.length)
      .toBeGreaterThan(0);
    const { out } = await platform.run(search);
    expect(out).toContain('a purple elephant');
    expect((await platform.run(['search', 'nowhere-to-be-found'])).out).toBe('No messages found.\n');
  });
});

describe('logs', () => {
  test('prints the events of a context and of a job, and ends', async () => {
    const { code, out } = await platform.run(['logs', contextId]);
    expect(code).toBe(0);
    for (const part of ['a purple elephant', '→ recall {}', '夜が明ける', 'completed']) expect(out).toContain(part);
    const ofJob = (await platform.run(['logs', job.id])).out;
    expect(ofJob).toMatch(/completed\n$/);
    expect(out.startsWith(ofJob)).toBe(true);
    expect((await platform.run(['logs', workerId, '--tail', '1'])).out).toMatch(/^ +\d+ {2}.+\n$/);
    expect((await platform.run(['logs', job.id, '--tail', '1'])).code).toBe(2);
    const lines = (await platform.run(['logs', contextId, '--json'])).out.trimEnd().split('\n');
    const numbers = lines.map((line) => (JSON.parse(line) as { id: number }).id);
    expect(numbers).toEqual(numbers.map((_, at) => at + 1));
    expect((await platform.run(['logs', '01900000-0000-7000-8000-000000000000'])).code).toBe(1);
  });

  test('-f continues: to the end of a job, or until Ctrl-C', async () => {
    const { job_id } = await platform.client.contexts.send(contextId, 'call: recall {}\n---\nsay: followed');
    const followed = await platform.run(['logs', '-f', job_id]);
    expect(followed.code).toBe(0);
    expect(followed.out).toContain('followed');
    const head = String(await platform.client.contexts.head(contextId));
    const following = platform.start(['logs', '-f', contextId, '--json', '--after', head, '--deltas']);
    const { job_id: next } = await platform.client.contexts.send(contextId, 'tokens: 5');
    await following.says('out', new RegExp(`"JobFinished".*${next}`));
    following.signal('SIGINT');
    const { code, out } = await following.done;
    expect(code).toBe(130);
    for (const line of out.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('event');
  });

  test('jobs --watch --json prints a job each time that it changed', async () => {
    const args = ['jobs', '--watch', '--json', '--context', contextId, '--interval', '50ms'];
    const watching = platform.start(args);
    await watching.says('out', new RegExp(job.id));
    const { job_id } = await platform.client.contexts.send(contextId, 'say: watched');
    await watching.says('out', new RegExp(`"id":"${job_id}"[^\\n]*"status":"completed"`));
    watching.signal('SIGINT');
    const { code, out } = await watching.done;
    expect(code).toBe(130);
    for (const line of out.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('status');
  });
});

describe('stopping', () => {
  test('interrupt ends the running job of a context, and reports when there is none', async () => {
    const { id } = await platform.client.contexts.create({});
    expect((await platform.run(['interrupt', id])).out).toBe('No job is running in this context.\n');
    const { job_id } = await platform.client.contexts.send(id, NEVER);
    const { code, out } = await platform.run(['interrupt', id, '--mode', 'rollback', '--wait', '30s']);
    expect(code).toBe(0);
    expect(out).toContain(`Job ${job_id} stopped (`);
  });

  test('cancel ends jobs by id and by filter', async () => {
    const { id } = await platform.client.contexts.create({});
    const sent = await platform.client.contexts.send(id, { ...NEVER, metadata: { batch: 7 } });
    const filtered = await platform.run(['cancel', '--metadata', 'batch=7', '--json']);
    expect(JSON.parse(filtered.out)).toEqual({ count: 1 });
    await platform.client.jobs.wait(sent.job_id);
    const again = await platform.run(['cancel', job.id]);
    expect(again).toMatchObject({ code: 0, out: `${job.id}: had already ended (completed).\n` });
    expect((await platform.run(['cancel'])).code).toBe(2);
    expect((await platform.run(['cancel', job.id, '--context', id])).code).toBe(2);
  });
});

describe('export and import', () => {
  test('copies a context from one place to another through a pipe', async () => {
    const exported = await platform.run(['export', contextId]);
    expect(exported.code).toBe(0);
    expect(JSON.parse(exported.out)).toMatchObject({ format: 'nightshift.context' });
    const imported = await platform.run(['import', '-'], exported.out);
    expect(imported.code).toBe(0);
    const copy = await platform.client.contexts.get(imported.out.trim());
    expect(copy.message_count).toBe((await platform.client.contexts.get(contextId)).message_count);
    expect((await platform.run(['import', '-'], 'no JSON')).code).toBe(2);
    expect((await platform.run(['import', '-'], '{}')).code).toBe(2);
  });

  test('writes Markdown and pairs, to a file where one is named', async () => {
    const file = path.join(platform.folder, 'talk.md');
    const written = await platform.run(['export', contextId, '--format', 'markdown', '-o', file]);
    expect(written).toMatchObject({ code: 0, out: '' });
    expect(await readFile(file, 'utf8')).toContain('a purple elephant');
    const pairs = await platform.run(['export', contextId, '--format', 'paired']);
    expect(JSON.parse(pairs.out)).toHaveProperty('entries');
    expect((await platform.run(['export', contextId, '-o', '/no/such/folder/x'])).code).toBe(2);
  });
});

describe('help', () => {
  test('exists for all commands together, and for each one with examples; it needs no platform', async () => {
    const { code, out } = await runProcess([]);
    expect(code).toBe(0);
    const names = [...out.matchAll(/^ {2}([a-z]+)(?: \[.*?\]| <.*?>)* {2,}\S/gm)].map(([, name = '']) => name);
    expect(names).toEqual(expect.arrayContaining(['start', 'run', 'chat', 'doctor', 'completion']));
    for (const name of names.filter((one) => one !== 'help')) {
      const help = await run([name, '--help']);
      expect({ name, code: help.code }).toEqual({ name, code: 0 });
      expect(help.out).toContain('Examples:');
    }
    expect((await run(['--version'])).out).toMatch(/^\d+\.\d+\.\d+/);
  });
});
