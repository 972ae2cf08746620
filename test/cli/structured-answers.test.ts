// Structured answers through the whole platform: the client gives the data its type, and the command line prints it.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { outputSchema, type Job, type Json } from '../../src/client/index.ts';
import { openPlatform, type Platform } from './command-line.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform();
});
afterAll(() => platform.close());

const Weather = z.object({ city: z.string(), degrees: z.number() });
const SCHEMA = outputSchema(Weather);
const RIGHT = '{"city": "Ulm", "degrees": 7}';
const WRONG = '{"city": "Ulm"}';
const DATA = { city: 'Ulm', degrees: 7 };

async function context(config = {}): Promise<string> {
  return (await platform.client.contexts.create({ config })).id;
}

async function messages(id: string): Promise<string[]> {
  const all = await platform.client.contexts.messages.list(id).all();
  return all.map(({ role, type }) => `${role} ${type}`);
}

describe('the client', () => {
  test('sends a schema of a library, and types the data by it', async () => {
    const job = await platform.client.contexts.run(await context(), { input: `say: ${RIGHT}`, output: Weather });
    expectTypeOf(job.output?.data).toEqualTypeOf<{ city: string; degrees: number } | null | undefined>();
    expect(job).toMatchObject({ status: 'completed', output: { text: RIGHT, data: DATA }, error: null });
  });

  test('types the data by a parameter, else as JSON', async () => {
    const { client } = platform;
    const id = await context({ output_schema: SCHEMA });
    const job = await client.contexts.run<{ city: string }>(id, { input: `say: ${RIGHT}` });
    expectTypeOf(job.output?.data).toEqualTypeOf<{ city: string } | null | undefined>();
    expect(job.output?.data?.city).toBe('Ulm');
    const waited = await client.jobs.wait(job.id);
    expectTypeOf(waited.output?.data).toEqualTypeOf<Json | undefined>();
    expectTypeOf<Job>().toExtend<typeof waited>();
    expect((await client.jobs.get(job.id)).output?.data).toEqual(DATA);
    expect((await client.jobs.list({ context_id: id }).all())[0]?.output?.data).toEqual(DATA);
  });

  test('tells which schema cannot be sent', () => {
    expect(() => outputSchema(z.object({ at: z.date() }))).toThrow(/cannot be converted to JSON Schema/);
  });
});

describe('an answer', () => {
  test('that does not match is asked for again; the note is a message', async () => {
    const id = await context({ output_schema: SCHEMA });
    const input = `say: ${WRONG}\n---\nsay: "\`\`\`json\\n${RIGHT.replaceAll('"', '\\"')}\\n\`\`\`"`;
    const job = await platform.client.contexts.run(id, { input });
    expect(job).toMatchObject({ status: 'completed', steps: 2, output: { data: DATA } });
    expect(await messages(id)).toEqual(['user text', 'assistant text', 'system correction', 'assistant text']);
    const prompt = await platform.client.jobs.prompt(job.id, 2);
    expect(prompt).toMatchObject({ output_schema: SCHEMA, exact: true, prefix: { lost_at: null } });
    const markdown = await platform.client.request('GET', '/api/contexts/{id}/export', {
      path: { id },
      query: { format: 'markdown' },
    });
    expect(JSON.stringify(markdown)).toContain('This answer does not match the JSON Schema of the job');
  });

  test('that never matches fails the job, which can be retried', async () => {
    const { client } = platform;
    const id = await context({ output_schema: SCHEMA, output_retries: 1 });
    const input = `say: ${WRONG}\n---\nsay: no\n---\nsay: ${RIGHT}`;
    const job = await client.contexts.run(id, { input });
    expect(job).toMatchObject({
      status: 'failed',
      steps: 2,
      error: { code: 'output_invalid' },
      output: { text: 'no', data: null },
    });
    const retried = await client.request('POST', '/api/contexts/{id}/jobs', { path: { id }, body: {} });
    expect(await client.jobs.wait(retried.job_id)).toMatchObject({ status: 'completed', output: { data: DATA } });
  });

  test('of each queued input is checked by its own schema', async () => {
    const { client } = platform;
    const id = await context({ output_schema: SCHEMA });
    const list = { type: 'array', items: { type: 'integer' } };
    const posts = [
      { content: `wait: 300ms\nsay: ${RIGHT}` },
      { content: 'say: [1, 2]', output_schema: list },
      { content: 'say: plain', output_schema: false as const },
      { content: `say: ${RIGHT}` },
    ];
    const accepted = [];
    for (const post of posts) accepted.push(await client.contexts.send(id, post));
    const outputs = [];
    for (const { job_id } of accepted) outputs.push((await client.jobs.wait(job_id)).output?.data);
    expect(outputs).toEqual([DATA, [1, 2], null, DATA]);
    const steps = await client.jobs.steps(accepted[1]?.job_id ?? '').all();
    // Providers put the schema before the system prompt.
    expect(steps).toMatchObject([{ kind: 'model', prefix_lost_at: 'system' }]);
  });

  test('stays valid in a fork, and in an export that is imported', async () => {
    const { client } = platform;
    const id = await context({ output_schema: SCHEMA });
    await client.contexts.run(id, { input: `say: ${WRONG}\n---\nsay: ${RIGHT}` });
    const types = await messages(id);
    const fork = await client.contexts.fork(id, {});
    expect(await messages(fork.id)).toEqual(types);
    const document = await client.request('GET', '/api/contexts/{id}/export', { path: { id }, query: {} });
    const imported = await client.contexts.import(document as Parameters<typeof client.contexts.import>[0]);
    expect(await messages(imported.id)).toEqual(types);
    const job = await client.contexts.run(imported.id, { input: `say: ${RIGHT}`, output: Weather });
    expect(job.output?.data).toEqual(DATA);
  });

  test('of a child worker is text, and not held to the schema of its parent', async () => {
    const tools = ['spawn_worker'];
    const input = `call: spawn_worker {"input": "say: plain"}\n---\nsay: ${RIGHT}`;
    const id = await context({ output_schema: SCHEMA, tools });
    const job = await platform.client.contexts.run(id, { input });
    expect(job).toMatchObject({ status: 'completed', steps: 2, output: { data: DATA } });
    const [result] = (await platform.client.contexts.messages.list(id).all()).filter(({ role }) => role === 'tool');
    expect(JSON.stringify(result?.content)).toContain('plain');
  });
});

describe('nightshift run --output-schema', () => {
  test('prints the data as JSON, even on a terminal', async () => {
    const file = path.join(platform.folder, 'weather.json');
    await writeFile(file, JSON.stringify(SCHEMA));
    const { code, out } = await platform.run(['run', `say: ${WRONG}\n---\nsay: ${RIGHT}`, '--output-schema', file]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual(DATA);
    const failed = await platform.run(['run', 'say: never', '--output-schema', file]);
    expect(failed).toMatchObject({ code: 1, out: expect.stringContaining('My script is over') });
    expect(failed.err).toContain('output_invalid');
  });

  test('refuses --stream, and a schema that is not valid', async () => {
    const file = path.join(platform.folder, 'wrong.json');
    await writeFile(file, '{"type": "strng"}');
    const streamed = await platform.run(['run', 'say: 1', '--output-schema', file, '--stream']);
    expect(streamed).toMatchObject({ code: 2, err: expect.stringContaining('Leave --stream out.') });
    const refused = await platform.run(['run', 'say: 1', '--output-schema', file]);
    expect(refused.err).toContain('input.output_schema: is not a valid JSON Schema (draft 2020-12 or 7).');
  });
});
