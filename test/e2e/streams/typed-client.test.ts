// The typed client against real processes: a job whose questions, approvals and client-side tools are answered by functions,
// and a stream and a wait that outlive the API that served them.
import { afterEach, expect, inject, test } from 'vitest';
import { createClient } from '../../../src/client/index.ts';
import { expectAllFollowed } from './expect-followed.ts';
import { follow } from './follower.ts';
import { killChildren } from '../rig/children.ts';
import { startApi, startWorker } from '../rig/platform.ts';
import { openEnvironment, type TestEnvironment } from '../rig/environment.ts';

const redis = inject('redisUrl') !== null;
const TIMES = {
  NIGHTSHIFT_HEARTBEAT_INTERVAL_MS: '100',
  NIGHTSHIFT_HEARTBEAT_TIMEOUT_MS: '400',
  NIGHTSHIFT_SWEEP_MS: '200',
};

let environment: TestEnvironment | null = null;
afterEach(async () => {
  await killChildren();
  await environment?.close();
  environment = null;
});

test.skipIf(!redis)(
  'the client runs a job with functions for its tools, and follows another one across a restart of the API',
  async () => {
    const of = (environment = await openEnvironment());
    const env = { ...of.env, ...TIMES };
    let api = await startApi(env);
    const worker = await startWorker(env);
    const url = `http://127.0.0.1:${api.env['PORT']}`;
    const client = createClient({ url });

    const { id } = await client.contexts.create({
      title: 'a desk',
      config: {
        model: 'simulated/test',
        tools: ['ask_user', 'remember'],
        client_tools: [
          { name: 'add', description: 'Adds.', input_schema: { type: 'object' } },
          { name: 'break', description: 'Breaks.', input_schema: { type: 'object' } },
        ],
        approval: [{ tool: 'remember', decision: 'always' }],
      },
    });
    const asked: string[] = [];
    const script = [
      'call: add {"a": 2, "b": 3}\ncall: break {}\ncall: remember {"key": "k", "value": "v"}',
      'ask: which? [red | blue]',
      'say: done',
    ];
    const job = await client.contexts.run(id, {
      input: script.join('\n---\n'),
      tools: {
        add: (input) => (asked.push('add'), { content: `sum of ${JSON.stringify(input)}` }),
        break: () => {
          throw new Error('it broke');
        },
      },
      onQuestion: ({ question, choices }) => (asked.push(question), choices?.[1]),
      onApproval: ({ name }) => (asked.push(name), 'approve'),
    });
    expect(job).toMatchObject({ status: 'completed', output: { text: 'done' } });
    expect(asked.toSorted()).toEqual(['add', 'remember', 'which?']);
    const results = (await client.contexts.messages.list(id, { limit: 2 }).all())
      .flatMap(({ content }) => content)
      .flatMap((block) => (block.type === 'tool_result' ? [block] : []));
    const result = JSON.stringify(results);
    for (const part of ['sum of', 'it broke', 'blue']) expect(result).toContain(part);
    expect(results.filter(({ is_error }) => is_error)).toHaveLength(1);

    const followed = await follow(url, async () => {
      api.child.signal('SIGKILL');
      await api.child.exited;
      api = await startApi(api.env);
    });
    expectAllFollowed(followed);

    for (const child of [api.child, worker]) child.signal('SIGTERM');
    await Promise.all([api.child, worker].map(({ exited }) => exited));
  },
  120_000,
);
