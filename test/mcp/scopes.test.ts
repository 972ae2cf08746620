// Servers of which each tenant, or each context, has an instance of its own.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import type { ContextId, TenantId } from '../../src/core/ids.ts';
import type { ToolInvocation } from '../../src/core/tools/tool.ts';
import { call } from '../tools/invoke.ts';
import { scripted } from './known-servers.ts';
import { openScripted, type Opened } from './open.ts';

let opened: Opened;
afterEach(() => opened.close());

type Caller = Pick<ToolInvocation, 'tenantId' | 'tenantName' | 'contextId' | 'jobId'>;

/** A context of a tenant. */
function callerOf(number: number, tenantName: string): Caller {
  const { contextId, jobId } = call('any', {});
  return { tenantId: number as TenantId, tenantName, contextId, jobId };
}

/** Servers with this scope, and the result of a call of one caller, once its instance has listed its tools. */
async function open(settings: object, running = new Set<ContextId>()) {
  const of = (opened = await openScripted(settings, undefined, running));
  const listed = (caller: Caller) =>
    of.until(() => of.servers.use(['it'], caller) && of.servers.offer('it', caller)?.kind === 'tools');
  const run = async (caller: Caller, tool: string): Promise<string> => {
    await listed(caller);
    const outcome = await of.run(`it__${tool}`, {}, undefined, caller);
    if (outcome.kind !== 'result') throw new Error('The call was aborted.');
    const [block] = typeof outcome.content === 'string' ? [] : outcome.content;
    return block?.type === 'text' ? block.text : JSON.stringify(outcome.content);
  };
  const env = async (caller: Caller): Promise<Record<string, string>> => JSON.parse(await run(caller, 'env'));
  const pids = () => of.facts().flatMap((fact) => (fact.startsWith('started ') ? [Number(fact.slice(8))] : []));
  return { ...of, listed, run, env, pids };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('two tenants have a process each, which learns whose it is; the contexts of a tenant share one', async () => {
  const { env, run, pids, servers } = await open({ scope: 'tenant' });
  expect(servers.offer('it', null)).toEqual({ kind: 'starting' });
  const [a, b] = [callerOf(1, 'a'), callerOf(2, 'b')];
  const [ofA, ofB] = await Promise.all([env(a), env(b)]);
  expect([ofA['NIGHTSHIFT_TENANT'], ofB['NIGHTSHIFT_TENANT']]).toEqual(['a', 'b']);
  expect((await env(callerOf(1, 'a')))['NIGHTSHIFT_TENANT']).toBe('a');
  expect(pids()).toHaveLength(2);
  // Without a caller nothing is seen of either.
  expect(servers.offer('it', null)).toEqual({ kind: 'starting' });
  expect(servers.get('it__env', null)).toBeUndefined();
  // What one tenant changes in its server, the other one does not see.
  await run(a, 'learn');
  await opened.until(() => servers.get('it__learnt', a) !== undefined);
  expect(servers.get('it__learnt', b)).toBeUndefined();
});

test('two contexts of a tenant have a process each', async () => {
  const { env, pids } = await open({ scope: 'context' });
  const [one, two] = [callerOf(1, 'a'), callerOf(1, 'a')];
  const known = await Promise.all([env(one), env(two)]);
  expect(known.map((of) => of['NIGHTSHIFT_CONTEXT_ID'])).toEqual([one.contextId, two.contextId]);
  expect(pids()).toHaveLength(2);
});

test('a server learns whose call it is, from its request', async () => {
  const { run } = await open({ scope: 'tenant' });
  const caller = { ...callerOf(1, 'acme'), metadata: { order: 7 } };
  const meta = JSON.parse(await run(caller, 'meta'));
  expect(meta).toMatchObject({
    'nightshift/tenant': 'acme',
    'nightshift/metadata': { order: 7 },
    'nightshift/context_id': caller.contextId,
    'nightshift/job_id': caller.jobId,
    'nightshift/tool_call_id': expect.any(String),
    'nightshift/worker_id': expect.any(String),
    'nightshift/worker_name': 'w',
    'nightshift/role': null,
    'nightshift/attempt': 1,
    'nightshift/idempotency_key': expect.any(String),
  });
});

test('an instance that is not used stops; it still offers its tools, and starts again for the next call', async () => {
  const { run, pids, servers, until } = await open({ scope: 'context', idle_timeout_ms: 1_000 });
  const caller = callerOf(1, 'a');
  await run(caller, 'env');
  const [first = 0] = pids();
  await until(() => !isAlive(first));
  expect(servers.offer('it', caller)?.kind).toBe('tools');
  expect(pids()).toHaveLength(1);
  expect(JSON.parse(await run(caller, 'env'))['NIGHTSHIFT_CONTEXT_ID']).toBe(caller.contextId);
  expect(pids()).toHaveLength(2);
});

test('there are no more instances than allowed: others wait until one is not used any more', async () => {
  const { run, listed, servers, until, pids } = await open({
    scope: 'tenant',
    max_instances: 1,
    idle_timeout_ms: 2_000,
    timeout_ms: 60_000,
  });
  const [a, b] = [callerOf(1, 'a'), callerOf(2, 'b')];
  await listed(a);
  const abort = new AbortController();
  const busy = opened.run('it__hang', {}, abort.signal, a);
  await until(() => opened.facts().includes('called hang'));
  expect(servers.use(['it'], b)).toBe(false);
  expect(servers.offer('it', b)).toEqual({ kind: 'starting' });
  expect(await opened.run('it__echo', { text: 'hi' }, undefined, b)).toMatchObject({
    is_error: true,
    content: expect.stringContaining('The MCP server it'),
  });
  expect(pids()).toHaveLength(1);
  abort.abort();
  await busy;
  expect(JSON.parse(await run(b, 'env'))['NIGHTSHIFT_TENANT']).toBe('b');
  const [ofA = 0] = pids();
  await until(() => !isAlive(ofA));
});

test('an instance whose job runs is not stopped, however long it was not used', async () => {
  const running = new Set<ContextId>();
  const { run, listed, servers, pids, until } = await open(
    { scope: 'context', max_instances: 1, idle_timeout_ms: 1_000 },
    running,
  );
  const [one, two] = [callerOf(1, 'a'), callerOf(1, 'a')];
  running.add(one.contextId);
  await run(one, 'env');
  await sleep(3_000);
  expect(servers.use(['it'], two)).toBe(false);
  const [first = 0] = pids();
  expect(isAlive(first)).toBe(true);
  running.delete(one.contextId);
  await until(() => !isAlive(first));
  await listed(two);
});

test('a tool that needs approval needs it also while its instance is not known', async () => {
  const { servers } = await open({ scope: 'context' });
  const caller = callerOf(1, 'a');
  expect(servers.get('it__hang_once', caller)).toMatchObject({ approval: 'always' });
  await opened.close();
  const denied = await open({ scope: 'context', approval: 'deny' });
  expect(denied.servers.get('it__hang_once', caller)).toMatchObject({ approval: 'deny' });
});

test('of several servers that a job needs, none is started unless there is room for all', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'nightshift-scopes-'));
  const one = { ...scripted(folder), scope: 'tenant', max_instances: 1 };
  opened = await openScripted({}, { x: one, y: one });
  const { servers } = opened;
  const [a, b] = [callerOf(1, 'a'), callerOf(2, 'b')];
  expect(servers.use(['x'], a)).toBe(true);
  expect(servers.use(['y'], b)).toBe(true);
  expect([servers.use(['x', 'y'], a), servers.use(['x', 'y'], b)]).toEqual([false, false]);
  await rm(folder, { recursive: true, force: true });
});

test('all of them stop with the process', async () => {
  const { env, pids, servers } = await open({ scope: 'context' });
  await Promise.all([1, 2, 3].map(() => env(callerOf(1, 'a'))));
  expect(pids()).toHaveLength(3);
  await servers.stop();
  expect(pids().filter(isAlive)).toEqual([]);
  expect(servers.offer('it', callerOf(1, 'a'))).toEqual({ kind: 'starting' });
  expect(pids()).toHaveLength(3);
});
