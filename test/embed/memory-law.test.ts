// The context in memory of `nightshift/testing` is equal to the one in PostgreSQL: the same scripted runs through both
// give the same messages, calls and status.
import { describe, expect, test } from 'vitest';
import type { Client } from '../../src/client/index.ts';
import { defineConfig, ToolError } from '../../src/index.ts';
import { replay, runRole, type Decision, type RunRoleOptions } from '../../src/testing/index.ts';
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
      tools: ['look', 'put', 'pay', 'break', 'ask_user', 'remember', 'recall', 'sleep_until'],
    },
  },
});

type Case = { name: string; inputs: string[]; worker?: RunRoleOptions['worker']; decision?: Decision; answer?: string };

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
  { name: 'plan mode', inputs: ['call: look {}\ncall: put {}\n---\nsay: plan'], worker: { mode: 'plan' } },
];

/** What both must agree on: ids become the numbers of their order. */
type Seen = { status: string; error: string | null; output: unknown; messages: unknown[]; calls: unknown[] };

type Shown = { role: string; type: string; turn: string; content: unknown };

function numbered(messages: readonly Shown[]): unknown[] {
  const known: string[] = [];
  const text = JSON.stringify(messages.map(({ role, type, turn, content }) => ({ role, type, turn, content })));
  const replaced = text.replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => {
    if (!known.includes(id)) known.push(id);
    return `id ${known.indexOf(id)}`;
  });
  const value: unknown[] = JSON.parse(replaced);
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
  const { status, error, output, messages, calls } = run;
  return {
    status,
    error: error?.code ?? null,
    output,
    messages: numbered(messages),
    calls: calls.map(({ tool, status: how, input }) => ({ tool, status: how, input })),
  };
}

function approval(decision: Decision | undefined) {
  if (decision === undefined || decision === 'approve') return 'approve';
  if (decision === 'reject') return 'deny';
  return 'approve' in decision
    ? { decision: 'approve' as const, input: decision.approve }
    : { decision: 'deny' as const, reason: decision.reject };
}

async function inPostgres(client: Client, { inputs, worker = {}, decision, answer }: Case) {
  const own = JSON.parse(JSON.stringify(worker));
  const { context_id: id } = await client.workers.create({ name: 'all', role: 'all', config: own });
  let job = null;
  for (const input of inputs) {
    const onApproval = () => approval(decision);
    job = await client.contexts.run(id, { input, onApproval, onQuestion: () => answer });
  }
  const recording = await client.contexts.export(id);
  if (job === null || typeof recording === 'string' || !('context' in recording))
    throw new Error('There is no export.');
  const messages = recording.entries.flatMap((entry) =>
    entry.type === 'message' ? [{ ...entry, type: entry.message_type }] : [],
  );
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
