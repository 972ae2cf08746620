// Messages, stops and lists between the workers of one tree, and their limits.
import { afterEach, expect, test } from 'vitest';
import { createPeers, type Sender } from '../../../src/commands/workers/peers.ts';
import { DEFAULT_TENANT, type JobId, type ToolCallId, type WorkerId } from '../../../src/core/ids.ts';
import { PEER_LIMITS, type PeerLimits } from '../../../src/core/workers/peer-limits.ts';
import type { ToolInvocation, ToolOutcome } from '../../../src/core/tools/tool.ts';
import type { User } from '../../../src/core/access/user.ts';
import { ids } from '../../db/database-fixture.ts';
import { aborted, says, type FleetOptions, type Script } from '../worker-fleet.ts';
import { lastInput, startCrew, type Crew } from './peers-fleet.ts';

let crew: Crew | null = null;
afterEach(async () => {
  await crew?.close();
  crew = null;
});

type Peers = ReturnType<typeof createPeers>;

async function start(model: Script, limits: Partial<PeerLimits> = {}, more: Partial<FleetOptions> = {}) {
  const made: { peers: Peers | null } = { peers: null };
  const tool = (ask: (peers: Peers, caller: Sender, input: Record<string, string>) => ReturnType<Peers['send']>) => ({
    effect: 'idempotent' as const,
    async execute({ id, tenantId, contextId, jobId, traceParent, input }: ToolInvocation): Promise<ToolOutcome> {
      if (made.peers === null) throw new Error('too early');
      const caller = { tenantId, contextId, jobId, toolCallId: id, traceParent };
      const answer = await ask(made.peers, caller, input as Record<string, string>);
      return { kind: 'result', content: JSON.stringify(answer), is_error: answer.kind === 'refused' };
    },
  });
  crew = await startCrew({
    model,
    ...more,
    tools: {
      send_message: tool((peers, caller, { to = '', content = '' }) => peers.send(caller, to, content)),
      stop: tool((peers, caller, { id = '' }) => peers.stop(caller, id)),
      list: tool((peers, caller) => peers.list(caller)),
    },
  });
  made.peers = createPeers(crew.ports, { ...PEER_LIMITS, ...limits });
  return { of: crew, peers: made.peers };
}

const atRest = (of: Crew) =>
  of.until(
    async () => (await of.query(`select 1 from jobs where finished_at is null or parent_notice = 'due'`)).length === 0,
  );

/** A parent that has hired a child which ends at once, and that child. */
async function pair(of: Crew) {
  const { contextId, workerId } = await of.createContext();
  const { jobId } = await of.post(contextId, 'hire');
  await of.ended(jobId);
  await atRest(of);
  const [child] = of.hired;
  if (child === undefined) throw new Error('no child was hired');
  return { parent: { contextId, workerId }, child };
}

/** The last result of a tool in a context. */
async function lastResult(of: Crew, contextId: string) {
  const [row] = await of.query(
    `select content from messages where context_id = '${contextId}' and role = 'tool' order by seq desc limit 1`,
  );
  return JSON.stringify(row?.['content']);
}

/** `do:NAME:JSON` calls that tool with that input, once; `hire` hires; every other input is answered. */
const obedient: Script = async (request, signal) => {
  const input = lastInput(request);
  const isAnswered = request.messages.at(-1)?.content.some(({ type }) => type === 'tool_result') === true;
  if (isAnswered) return says('done');
  if (input === 'hire') return says('', { name: 'hire', input: { input: 'child' } });
  if (input.endsWith('hang')) {
    await aborted(signal);
    return { kind: 'aborted' };
  }
  const [, name = '', json = '{}'] = /do:(\w+):(.*)$/s.exec(input) ?? [];
  return name === '' ? says(`answer to: ${input}`) : says('', { name, input: JSON.parse(json) });
};

const tell = (name: string, input: object) => `do:${name}:${JSON.stringify(input)}`;

test('a message to a worker below names its sender, and its answer comes back as a message', async () => {
  const { of } = await start(obedient);
  const { parent, child } = await pair(of);
  await of.post(parent.contextId, tell('send_message', { to: child.workerId, content: 'how far are you?' }));
  await of.until(async () => (await of.query(`select 1 from jobs where hops = 2`)).length === 2);
  await atRest(of);
  const inputs = await of.query(
    `select context_id, sender_worker_id, content from messages where role = 'user' order by id desc limit 2`,
  );
  expect(inputs[1]).toMatchObject({ context_id: child.contextId, sender_worker_id: parent.workerId });
  expect(JSON.stringify(inputs[1]?.['content'])).toContain('how far are you?');
  expect(inputs[0]).toMatchObject({ context_id: parent.contextId, sender_worker_id: child.workerId });
  expect(JSON.stringify(inputs[0]?.['content'])).toContain('answer to: Message from worker');
});

test('a message and its answer are on behalf of the user of the job that sends it', async () => {
  const user = '\uF8FE0061lice' as User;
  const { of } = await start(obedient);
  const { parent, child } = await pair(of);
  const { jobId } = await of.post(parent.contextId, tell('send_message', { to: child.workerId, content: 'go on' }), {
    user,
  });
  await of.until(async () => (await of.query(`select 1 from jobs where hops = 2`)).length === 2);
  await atRest(of);
  const later = await of.query(`select distinct user_name as "user" from jobs where id >= '${jobId}'`);
  expect(later).toEqual([{ user }]);
  expect(await of.query('select 1 from jobs where user_name is null')).toHaveLength(3);
});

test('a message to the worker above is answered there, and no message comes back', async () => {
  const { of } = await start(obedient);
  const { parent, child } = await pair(of);
  await of.post(child.contextId, tell('send_message', { to: parent.workerId, content: 'done soon' }));
  await of.until(
    async () =>
      (await of.query(`select 1 from jobs where hops = 1 and context_id = '${parent.contextId}'`)).length === 1,
  );
  await atRest(of);
  const [sent] = await of.query(`select * from jobs where hops = 1 and context_id = '${parent.contextId}'`);
  expect(sent).toMatchObject({ status: 'completed', parent_notice: null, parent_job_id: null });
});

test('a worker of another tree, or one that takes no input, gets no messages; and only workers below can be stopped', async () => {
  const { of, peers } = await start(obedient);
  const { parent, child } = await pair(of);
  const stranger = await of.createContext();
  const { jobId } = await of.post(child.contextId, 'hang');
  await of.until(async () => (await of.job(jobId))['status'] === 'running');
  const caller: Sender = {
    tenantId: DEFAULT_TENANT,
    contextId: child.contextId,
    jobId,
    toolCallId: ids.next(),
    traceParent: null,
  };
  expect(await peers.send(caller, stranger.workerId, 'x')).toMatchObject({ code: 'not_found' });
  expect(await peers.send(caller, child.workerId, 'x')).toMatchObject({ code: 'not_found' });
  expect(await peers.send(caller, 'nobody', 'x')).toMatchObject({ code: 'not_found' });
  expect(await peers.stop(caller, parent.workerId)).toMatchObject({ code: 'forbidden' });
  await of.query(`update contexts set stopped = true where id = '${parent.contextId}'`);
  expect(await peers.send(caller, parent.workerId, 'x')).toMatchObject({ code: 'worker_stopped' });
});

test('a repeated call finds its message; a job with a stop request sends nothing', async () => {
  const { of, peers } = await start(obedient);
  const { parent, child } = await pair(of);
  const { jobId } = await of.post(parent.contextId, 'hang');
  await of.until(async () => (await of.job(jobId))['status'] === 'running');
  const caller: Sender = {
    tenantId: DEFAULT_TENANT,
    contextId: parent.contextId,
    jobId,
    toolCallId: ids.next(),
    traceParent: null,
  };
  const all = await Promise.all(Array.from({ length: 5 }, () => peers.send(caller, child.workerId, 'hang')));
  expect(new Set(all.map((one) => JSON.stringify(one)))).toHaveLength(1);
  expect(all[0]).toMatchObject({ kind: 'done' });
  const sent = all[0]?.kind === 'done' ? (all[0].value['job_id'] as JobId) : jobId;
  await of.cancel(jobId);
  await of.ended(jobId);
  // The cancelled job had asked for it.
  expect(await of.ended(sent)).toMatchObject({ status: 'cancelled' });
  const late = { ...caller, toolCallId: ids.next<ToolCallId>() };
  expect(await peers.send(late, child.workerId, 'hang')).toMatchObject({ code: 'context_busy' });
  await atRest(of);
});

test('two workers that answer each other reach a limit', async () => {
  const pingPong: Script = (request) => {
    const isAnswered = request.messages.at(-1)?.content.some(({ type }) => type === 'tool_result') === true;
    const input = lastInput(request);
    if (input === 'hire' && !isAnswered) return says('', { name: 'hire', input: { input: 'child' } });
    if (isAnswered || input === 'child') return says('done');
    const [to] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(input.replace(/^Report: job \S+/, '')) ?? [''];
    return says('', { name: 'send_message', input: { to, content: 'and you?' } });
  };
  const { of } = await start(pingPong, { hops: 5 });
  const { parent, child } = await pair(of);
  await of.query(`delete from jobs where notice_of_job_id is not null`);
  await of.post(parent.contextId, `tell ${child.workerId}`);
  await of.until(async () => (await of.query(`select 1 from jobs where hops >= 5`)).length > 0);
  await atRest(of);
  const [{ most } = { most: null }] = await of.query(`select max(hops) as most from jobs`);
  // The last message, and the notice of its end.
  expect(Number(most)).toBeLessThanOrEqual(6);
  expect(await of.query(`select 1 from messages where content::text like '%worker_limit%'`)).not.toEqual([]);
});

test('messages above the queued jobs of the tenant are refused', async () => {
  const { of } = await start(obedient);
  const { parent, child } = await pair(of);
  const [kept] = await of.query(`select id from jobs where context_id = '${child.contextId}' limit 1`);
  await of.query(
    `update jobs set status = 'queued', finished_at = null, error = null where id = '${String(kept?.['id'])}'`,
  );
  await of.query(`update tenants set limits = '{"queued_jobs": 1}' where id = 1`);
  const { jobId } = await of.post(parent.contextId, tell('send_message', { to: child.workerId, content: 'go on' }));
  await of.ended(jobId);
  expect(await of.query(`select 1 from messages where content::text like '%quota_exceeded%'`)).not.toEqual([]);
});

test('messages above the limit for one minute are refused, earlier ones are kept', async () => {
  const many: Script = async (request, ...more) => {
    const input = lastInput(request);
    const isAnswered = request.messages.at(-1)?.content.some(({ type }) => type === 'tool_result') === true;
    if (isAnswered || !input.startsWith('many:')) return obedient(request, ...more);
    const call = { name: 'send_message', input: { to: input.slice(5), content: 'x' } };
    return says('', call, call, call, call);
  };
  const { of } = await start(many, { messagesPerMinute: 3 });
  const { parent, child } = await pair(of);
  const { jobId } = await of.post(parent.contextId, `many:${child.workerId}`);
  await of.ended(jobId);
  expect(await of.query(`select 1 from jobs where parent_job_id = '${jobId}'`)).toHaveLength(3);
  expect(await of.query(`select 1 from messages where content::text like '%rate_limited%'`)).toHaveLength(1);
});

test('a worker lists those below it, and stops one of them with its job', async () => {
  const { of } = await start(obedient);
  const { parent, child } = await pair(of);
  const { jobId: listing } = await of.post(parent.contextId, tell('list', {}));
  await of.ended(listing);
  const listed = await lastResult(of, parent.contextId);
  for (const word of [parent.workerId, child.workerId, child.jobId, 'inactive', 'completed']) {
    expect(listed).toContain(word);
  }
  const { jobId: busy } = await of.post(child.contextId, 'hang');
  await of.until(async () => (await of.job(busy))['status'] === 'running');
  const { jobId: stopping } = await of.post(parent.contextId, tell('stop', { id: child.workerId }));
  await of.ended(stopping);
  expect(await lastResult(of, parent.contextId)).toContain('stopped');
  expect(await of.ended(busy)).toMatchObject({ status: 'cancelled' });
  const stopped: WorkerId = child.workerId;
  expect(
    await of.query(
      `select 1 from workers w join contexts c on c.id = w.context_id where w.id = '${stopped}' and c.stopped`,
    ),
  ).toHaveLength(1);
});
