// Real servers from npm as tool sources of jobs: a long call that reports progress, is cancelled, loses its server;
// files that are edited; memories of one job that another one reads.
import { hostname } from 'node:os';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openMcpPlatform, resultsOf, type McpPlatform } from './mcp-platform.ts';
import { everything, filesystem, memory, scripted } from './known-servers.ts';

let platform: McpPlatform;
beforeAll(async () => {
  platform = await openMcpPlatform((folder) => ({
    every: everything,
    files: { ...filesystem(folder), tools: ['read_text_file', 'edit_file', 'move_file'] },
    open_files: { ...filesystem(folder), approval: 'never' },
    memory: { ...memory(join(folder, 'memory.json')), approval: 'never' },
    it: scripted(folder),
    own: { ...scripted(folder) },
    other: { ...scripted(folder), send_caller: false },
    gone: { command: '/no/such/server', start_timeout_ms: 300 },
  }));
});
afterAll(() => platform.close());

const LONG = 'call: every__trigger-long-running-operation';

describe('a long call', () => {
  test('reports its progress, and ends', async () => {
    const [result] = await platform.run(['every'], `${LONG} {"duration": 1, "steps": 4}\nthen:\nsay: done`);
    expect(result).toContain('Long running operation completed');
    expect(await platform.says('"done":1,"total":4')).toContain('progress of a tool');
  });

  test('ends when its job is cancelled, and its server is there for the next', async () => {
    const { client } = platform;
    const context = await client.createContext({ model: 'simulated/default', mcp_servers: ['every'] });
    const { job_id } = await client.post(context.id, `${LONG} {"duration": 600, "steps": 6000}`);
    await platform.says('"done":1,"total":6000');
    const receipt = await client.cancel(job_id, 60_000);
    expect(receipt).toMatchObject({ status: 'cancelled' });
    expect(await resultsOf(client, context.id)).toEqual([expect.stringMatching(/^Cancelled/)]);
    expect(await platform.run(['every'], 'call: every__echo {"message": "still here"}\nthen:\nsay: done')).toEqual([
      'Echo: still here',
    ]);
  });

  test('that may run again is repeated, when its server is killed in the middle', async () => {
    const { client } = platform;
    const context = await client.createContext({ model: 'simulated/default', mcp_servers: ['every'] });
    const { job_id } = await client.post(context.id, `${LONG} {"duration": 2, "steps": 77}\nthen:\nsay: done`);
    await platform.says('"done":1,"total":77');
    await platform.kill('server-everything');
    expect(await client.ended(job_id)).toMatchObject({ status: 'completed' });
    expect(await resultsOf(client, context.id)).toEqual([expect.stringContaining('Long running operation completed')]);
    await platform.says('an MCP server was lost');
  });
});

describe('files', () => {
  test('are edited', async () => {
    const path = join(platform.folder, 'a.txt');
    await writeFile(path, 'one two three');
    const edit = { path, edits: [{ oldText: 'two', newText: '2' }] };
    const [diff, text] = await platform.run(
      ['open_files'],
      `call: open_files__edit_file ${JSON.stringify(edit)}\nthen:\ncall: open_files__read_text_file {"path": "${path}"}\nthen:\nsay: done`,
    );
    expect(diff).toContain('+one 2 three');
    expect(text).toContain('one 2 three');
    expect(await readFile(path, 'utf8')).toBe('one 2 three');
  });

  test("outside of the server's folder are not read", async () => {
    const [result] = await platform.run(
      ['open_files'],
      'call: open_files__read_text_file {"path": "/etc/passwd"}\nthen:\nsay: done',
    );
    expect(result).toContain('Access denied');
  });

  test('are not changed by a tool outside the list: it does not exist', async () => {
    const [result] = await platform.run(['files'], 'call: files__write_file {"path": "/x"}\nthen:\nsay: done');
    expect(result).toMatch(/^There is no tool named files__write_file/);
  });

  test('are edited once it is approved, and not before', async () => {
    const { client, url } = platform;
    const path = join(platform.folder, 'b.txt');
    await writeFile(path, 'one two three');
    const edit = { path, edits: [{ oldText: 'two', newText: '2' }] };
    const context = await client.createContext({ model: 'simulated/default', mcp_servers: ['files'] });
    const { job_id } = await client.post(
      context.id,
      `call: files__edit_file ${JSON.stringify(edit)}\nthen:\nsay: done`,
    );
    while ((await client.job(job_id)).status !== 'waiting') await new Promise(setImmediate);
    expect(await readFile(path, 'utf8')).toBe('one two three');
    const approved = await fetch(`${url}/api/contexts/${context.id}/tools/approve`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ all: true, decision: 'approve' }),
    });
    expect(approved.status).toBe(200);
    expect(await client.ended(job_id)).toMatchObject({ status: 'completed' });
    expect(await readFile(path, 'utf8')).toBe('one 2 three');
  });
});

test('a memory of one job is read by another', async () => {
  const entities = [{ name: 'Ada', entityType: 'person', observations: ['likes engines'] }];
  await platform.run(['memory'], `call: memory__create_entities ${JSON.stringify({ entities })}\nthen:\nsay: done`);
  const [graph] = await platform.run(['memory'], 'call: memory__read_graph {}\nthen:\nsay: done');
  expect(graph).toContain('likes engines');
});

test('a list that changes in the middle of a job applies to the next one', async () => {
  const { client, run } = platform;
  const context = await client.createContext({ model: 'simulated/default', mcp_servers: ['it'] });
  const calls = ['learn', 'echo {"text": "between"}', 'learnt'].map((call) => `call: it__${call}`).join('\nthen:\n');
  const first = await client.post(context.id, `${calls}\nthen:\nsay: done`);
  await client.ended(first.job_id);
  const [, , refused] = await resultsOf(client, context.id);
  expect(refused).toMatch(/^There is no tool named it__learnt/);
  const second = await client.post(context.id, 'call: it__learnt\nthen:\nsay: done');
  await client.ended(second.job_id);
  expect((await resultsOf(client, context.id)).at(-1)).toBe('did learnt');
  expect(await run(['it'], 'call: it__learnt\nthen:\nsay: done')).toEqual(['did learnt']);
});

test('an image comes as an image', async () => {
  const [result] = await platform.run(['every'], 'call: every__get-tiny-image {}\nthen:\nsay: done');
  expect(result?.split('\n')).toContain('image');
});

test('while a plan is made only tools without effect are offered', async () => {
  const { client } = platform;
  const config = { model: 'simulated/default', mcp_servers: ['files'], mode: 'plan' as const };
  const context = await client.createContext(config);
  const { job_id } = await client.post(context.id, 'call: files__edit_file {"path": "/x"}\nthen:\nsay: done');
  await client.ended(job_id);
  const [result] = await resultsOf(client, context.id);
  expect(result).toContain('Available tools: files__read_text_file.');
});

test('a server that cannot be reached delays no job for long, and the model is informed', async () => {
  const [result] = await platform.run(['gone'], 'call: gone__unavailable {}\nthen:\nsay: done');
  expect(result).toContain('The MCP server gone is not responding');
});

test('a command cannot be given by a client', async () => {
  const { url } = platform;
  const ask = async (config: object): Promise<{ status: number; code: string }> => {
    const response = await fetch(`${url}/api/contexts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ config }),
    });
    const body: { error: { code: string } } = JSON.parse(await response.text());
    return { status: response.status, code: body.error.code };
  };
  expect(await ask({ mcp_servers: ['sh -c "touch /tmp/never"'] })).toEqual({
    status: 422,
    code: 'unknown_tool',
  });
  expect(await ask({ mcp_servers: [{ command: 'sh' }] })).toEqual({ status: 422, code: 'invalid_request' });
  expect(await ask({ mcp_servers: { x: { command: 'sh' } } })).toEqual({
    status: 422,
    code: 'invalid_request',
  });
});

test('metrics show servers and their calls', async () => {
  const { url } = platform;
  const onRun = async (): Promise<string> => (await fetch(`${url}/metrics`)).text();
  // A worker process reports its metrics with its heartbeats: each may be newer than the last one.
  for (const figure of [
    /nightshift_mcp_server_up\{[^}]*server="memory"[^}]*\} 1/,
    /nightshift_mcp_server_up\{[^}]*server="gone"[^}]*\} 0/,
    /nightshift_mcp_calls_total\{[^}]*outcome="completed"/,
    /nightshift_mcp_server_failed_timestamp_seconds\{(?=[^}]*server="gone")[^}]*reason="command_not_found"/,
    /nightshift_mcp_call_seconds_bucket\{(?=[^}]*server="memory")[^}]*le="600"[^}]*\} [1-9]/,
  ])
    await expect.poll(onRun, { interval: 500 }).toMatch(figure);
});

test('the installation has why a server fails, where, and how long calls take', async () => {
  const { url } = platform;
  const servers = async (): Promise<unknown[]> => {
    const { mcp_servers: all } = (await (await fetch(`${url}/api/system`)).json()) as { mcp_servers: unknown[] };
    return all;
  };
  await expect.poll(servers, { interval: 500 }).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        name: 'gone',
        state: 'down',
        last_failure: {
          at: expect.any(String),
          reason: 'command_not_found',
          code: null,
          process_id: expect.any(String),
          host: hostname(),
        },
        latency_ms: null,
      }),
      expect.objectContaining({
        name: 'memory',
        state: 'up',
        last_failure: null,
        latency_ms: { p50: expect.any(Number), p95: expect.any(Number) },
      }),
    ]),
  );
});

test('a server learns whose call it is, unless it is not to', async () => {
  const { client, url } = platform;
  const context = await client.createContext({ model: 'simulated/default', mcp_servers: ['own', 'other'] });
  const content = 'call: own__meta\ncall: other__meta\nthen:\nsay: done';
  const response = await fetch(`${url}/api/contexts/${context.id}/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ content, metadata: { order: 7, odd: '\u0000' } }),
  });
  const { job_id: jobId } = (await response.json()) as { job_id: string };
  expect(await client.ended(jobId)).toMatchObject({ status: 'completed' });
  // The one that answers first is stored first.
  const [own = '', other = ''] = (await resultsOf(client, context.id)).toSorted((a, b) => b.length - a.length);
  expect(JSON.parse(own)).toMatchObject({
    'nightshift/tenant': 'default',
    'nightshift/metadata': { order: 7, odd: '\u0000' },
    'nightshift/context_id': context.id,
    'nightshift/worker_id': expect.any(String),
    'nightshift/worker_name': expect.any(String),
    'nightshift/role': null,
    'nightshift/attempt': 1,
    'nightshift/job_id': jobId,
    'nightshift/tool_call_id': expect.any(String),
    'nightshift/idempotency_key': expect.any(String),
  });
  expect(Object.keys(JSON.parse(other))).toEqual(['progressToken']);
});
