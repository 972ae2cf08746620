// The context in memory of `nightshift/testing` is equal to the one in PostgreSQL: the same scripted runs through both
// give the same messages, calls and status.
import { describe, expect, test } from 'vitest';
import type { Client, WorkerTreeNode } from '../../src/client/index.ts';
import type { StoredBlock } from '../../src/client/schema.ts';
import { defineConfig, ToolError } from '../../src/index.ts';
import {
  replay,
  runRole,
  type ChildRun,
  type Decision,
  type RunMessage,
  type RunRoleOptions,
} from '../../src/testing/index.ts';
import { openNightshift } from './opened.ts';

const OBJECT = { type: 'object', properties: { n: { type: 'number' } } } as const;

const config = defineConfig({
  tools: [
    {
      name: 'look',
      description: 'Looks.',
      input_schema: OBJECT,
      effect: 'none',
      execute: ({ n }) => ({ seen: n ?? null }),
    },
    { name: 'put', description: 'Puts.', input_schema: OBJECT, effect: 'idempotent', execute: () => 'put' },
    {
      name: 'pay',
      description: 'Pays.',
      input_schema: OBJECT,
      effect: 'once',
      approval: ({ input }) => ((input.n ?? 0) > 10 ? 'always' : 'never'),
      execute: ({ n }) => `paid ${n ?? 0}`,
    },
    {
      name: 'break',
      description: 'Breaks.',
      input_schema: OBJECT,
      effect: 'once',
      execute: () => {
        throw new ToolError('It broke.', { code: 'broken' });
      },
    },
  ],
  roles: {
    all: {
      model: 'simulated/m',
      tools: [
        'look',
        'put',
        'pay',
        'break',
        'ask_user',
        'remember',
        'recall',
        'sleep_until',
        'spawn_worker',
        'wait_for_workers',
      ],
    },
    helper: { system_prompt: 'You help.', tools: ['look', 'break'] },
  },
});

/** `jobs`: of the worker, with those that tell the end of a child. Default: one for each input. */
type Case = {
  name: string;
  inputs: string[];
  worker?: RunRoleOptions['worker'];
  decision?: Decision;
  answer?: string;
  jobs?: number;
};

/** A call that creates a worker with this script. */
const spawn = (input: string, more: object = {}): string => `call: spawn_worker ${JSON.stringify({ input, ...more })}`;

const CASES: Case[] = [
  { name: 'an answer', inputs: ['say: hello'] },
  {
    name: 'thoughts, and several calls at once',
    inputs: ['think: hm\ncall: look {"n": 1}\ncall: put {}\ncall: pay {"n": 2}\n---\nsay: ok'],
  },
  { name: 'rounds of calls', inputs: ['call: look {"n": 1}\n---\ncall: break {}\n---\ncall: put {}\n---\nsay: end'] },
  { name: 'bad input, an unknown tool', inputs: ['call: look {"n": "x"}\ncall: fly {}\n---\nsay: sorry'] },
  {
    name: 'two inputs, one memory',
    inputs: ['call: remember {"key": "a", "value": "b"}\n---\nsay: kept', 'call: recall {"key": "a"}\n---\nsay: read'],
  },
  { name: 'an approval', inputs: ['call: pay {"n": 50}\n---\nsay: done'], decision: 'approve' },
  {
    name: 'an approval with another input',
    inputs: ['call: pay {"n": 50}\n---\nsay: done'],
    decision: { approve: { n: 20 } },
  },
  {
    name: 'a rejection',
    inputs: ['call: pay {"n": 50}\ncall: look {}\n---\nsay: done'],
    decision: { reject: 'Too much.' },
  },
  { name: 'a rejection without a reason', inputs: ['call: pay {"n": 50}\n---\nsay: done'], decision: 'reject' },
  { name: 'a question', inputs: ['ask: Which? [red | blue]\n---\nsay: thanks'], answer: 'blue' },
  { name: 'a short sleep', inputs: ['call: sleep_until {"seconds": 0}\n---\nsay: awake'] },
  { name: 'a retried failure', inputs: ['fail: overloaded retry-after 10ms times 1\nsay: at last'] },
  { name: 'a failed job, then another', inputs: ['fail: auth', 'say: again'] },
  { name: 'max_steps', inputs: ['call: look {}\n---\ncall: look {}\n---\nsay: never'], worker: { max_steps: 2 } },
  {
    name: 'a structured answer after a correction',
    inputs: ['say: {"n": "x"}\n---\nsay: {"n": 1}'],
    worker: { output_schema: { ...OBJECT, required: ['n'] } },
  },
  {
    name: 'a structured answer that never matches',
    inputs: ['say: no'],
    worker: { output_schema: { ...OBJECT }, output_retries: 1 },
  },
  {
    name: 'a rule that denies',
    inputs: ['call: put {}\n---\nsay: ok'],
    worker: { approval: [{ tool: 'put', decision: 'deny' }] },
  },
  { name: 'a child', inputs: [`${spawn('say: hello from below')}\n---\nsay: heard`] },
  {
    name: 'children with a role, at once; one of them fails',
    inputs: [
      `${spawn('call: look {"n": 1}\n---\nsay: seen', { role: 'helper', name: 'a' })}
${spawn('fail: auth', { role: 'helper', name: 'b' })}
${spawn('call: break {}\n---\nsay: sorry', { role: 'helper', tools: ['break'], system_prompt: 'Break it.' })}
---
say: all three`,
    ],
  },
  { name: 'a child of a child', inputs: [`${spawn(`${spawn('say: deep')}\n---\nsay: in between`)}\n---\nsay: up`] },
  {
    name: 'children that are refused',
    inputs: [
      `${spawn('x', { role: 'none' })}
${spawn('x', { tools: ['http_fetch'] })}
${spawn('x', { wait: 'yes' })}
call: wait_for_workers {"worker_ids": ["x"]}
---
say: none`,
    ],
  },
  {
    name: 'more depth than allowed',
    inputs: [`${spawn(`${spawn('say: too deep')}\n---\nsay: no`)}\n---\nsay: so it is`],
    worker: { limits: { depth: 1 } },
  },
  {
    name: 'more children than allowed',
    inputs: [`${spawn('say: one')}\n${spawn('say: two')}\n---\nsay: one only`],
    worker: { limits: { children: 1 } },
  },
  {
    name: 'a child that is not waited for tells its end',
    inputs: [`${spawn('say: later', { wait: false })}\n---\nsay: started`],
    jobs: 2,
  },
  { name: 'plan mode', inputs: ['call: look {}\ncall: put {}\n---\nsay: plan'], worker: { mode: 'plan' } },
];

/** What both must agree on: ids become the numbers of their order, and a time that is measured is not compared. */
type Seen = {
  status: string;
  error: string | null;
  output: unknown;
  messages: unknown[];
  calls: unknown[];
  children: SeenChild[];
};

type SeenChild = { name: string; status: string | null; messages: unknown[]; children: SeenChild[] };

type Shown = { role: string; type: string; turn: string; content: readonly ShownBlock[] };

type ShownBlock = RunMessage['content'][number] | StoredBlock;

/**
 * Children that run beside each other end in any order, and the results of their calls are stored in the order in which
 * they ended. Both sides are compared in the order of the calls; what is not the result of a child stays where it is.
 */
function inOrderOfCalls(messages: readonly Shown[]): Shown[] {
  const spawns = messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'tool_use' && block.name === 'spawn_worker' ? [block.id] : [])),
  );
  const callOf = ({ content: [block] }: Shown): number =>
    block?.type === 'tool_result' ? spawns.indexOf(block.tool_use_id) : -1;
  const results = messages.filter((message) => callOf(message) >= 0).toSorted((a, b) => callOf(a) - callOf(b));
  return messages.map((message) => (callOf(message) >= 0 ? (results.shift() ?? message) : message));
}

function numbered(messages: readonly Shown[]): unknown[] {
  const known: string[] = [];
  const text = JSON.stringify(
    inOrderOfCalls(messages).map(({ role, type, turn, content }) => ({ role, type, turn, content })),
  );
  const replaced = text.replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => {
    if (!known.includes(id)) known.push(id);
    return `id ${known.indexOf(id)}`;
  });
  const value: unknown[] = JSON.parse(replaced.replaceAll(/(?<=slept_s\\":)\d+(\.\d+)?/g, 'measured'));
  return value;
}

async function inMemory({ inputs, worker, decision, answer }: Case): Promise<Seen> {
  const run = await runRole(config, {
    role: 'all',
    worker,
    input: inputs,
    approve: () => decision,
    answer: () => answer,
  });
  const { status, error, output, messages, calls, children } = run;
  return {
    status,
    error: error?.code ?? null,
    output,
    messages: numbered(messages),
    calls: calls.map(({ tool, status: how, input }) => ({ tool, status: how, input })),
    children: children.map(childInMemory),
  };
}

function childInMemory({ name, status, messages, children }: ChildRun): SeenChild {
  return { name, status, messages: numbered(messages), children: children.map(childInMemory) };
}

async function childInPostgres(client: Client, node: WorkerTreeNode): Promise<SeenChild> {
  const { messages } = await exportedFrom(client, node.context_id);
  const children = await Promise.all(node.children.map((child) => childInPostgres(client, child)));
  return { name: node.name, status: node.job?.status ?? null, messages: numbered(messages), children };
}

function approval(decision: Decision | undefined) {
  if (decision === undefined || decision === 'approve') return 'approve';
  if (decision === 'reject') return 'deny';
  return 'approve' in decision
    ? { decision: 'approve' as const, input: decision.approve }
    : { decision: 'deny' as const, reason: decision.reject };
}

async function exportedFrom(client: Client, id: string) {
  const recording = await client.contexts.export(id);
  if (typeof recording === 'string' || !('context' in recording)) throw new Error('There is no export.');
  const messages = recording.entries.flatMap((entry) =>
    entry.type === 'message' ? [{ ...entry, type: entry.message_type }] : [],
  );
  return { recording, messages };
}

async function inPostgres(client: Client, { inputs, worker = {}, decision, answer, jobs = inputs.length }: Case) {
  const own = JSON.parse(JSON.stringify(worker));
  const { context_id: id, id: workerId } = await client.workers.create({ name: 'all', role: 'all', config: own });
  let job = null;
  for (const input of inputs) {
    const onApproval = () => approval(decision);
    job = await client.contexts.run(id, { input, onApproval, onQuestion: () => answer });
  }
  if (job === null) throw new Error('There is no job.');
  const finished = async (): Promise<number> => {
    const { data } = await client.request('GET', '/api/jobs', { query: { context_id: id } });
    return data.filter(({ finished_at: at }) => at !== null).length;
  };
  await expect.poll(finished).toBe(jobs);
  const { recording, messages } = await exportedFrom(client, id);
  const { children } = await client.workers.tree(workerId);
  const ids = messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])),
  );
  const calls = await Promise.all(ids.map((call) => client.tools.get(id, call)));
  const seen: Seen = {
    status: job.status,
    error: job.error?.code ?? null,
    output: job.output === null ? null : { text: job.output.text, data: job.output.data },
    messages: numbered(messages),
    calls: calls.map(({ name: tool, status, run_input: input }) => ({ tool, status, input })),
    children: await Promise.all(children.map((child) => childInPostgres(client, child))),
  };
  return { seen, recording };
}

describe('the same scripts', () => {
  test('give the same in memory and in PostgreSQL, and what PostgreSQL stored replays equal', async () => {
    const nightshift = await openNightshift({ config });
    await nightshift.startWorker();
    const client = nightshift.tenant('default');
    for (const one of CASES) {
      const { seen, recording } = await inPostgres(client, one);
      expect(seen.messages.length).toBeGreaterThanOrEqual(one.inputs.length);
      expect({ case: one.name, ...(await inMemory(one)) }).toEqual({ case: one.name, ...seen });
      const { diff } = await replay(recording, config);
      expect({ case: one.name, diff }).toEqual({ case: one.name, diff: '' });
    }
  });
});
