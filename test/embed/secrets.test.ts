// A tool that says its secret in every way that it has: no client and no log ever gets it.
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { ToolError, defineTool, defineToolPackage } from '../../src/index.ts';
import { openNightshift } from './opened.ts';

const SECRET = 'never/show this+value';

const any = { input_schema: { type: 'object' } } as const;

const talkative = defineToolPackage({
  name: 'talkative',
  secrets: ['TALK_KEY'],
  tools: ({ secrets: { TALK_KEY: key }, prefix }) => [
    defineTool({
      ...any,
      name: 'tell',
      description: `Tells. See ${prefix}fail.`,
      effect: 'idempotent',
      async execute(_, { log, progress, step, enqueue, spawn, context_id }) {
        log.info(`key ${key}`, { key, url: `https://a.example/?${new URLSearchParams({ key }).toString()}` });
        log.error('failed', new Error(key));
        progress({ message: `with ${key}`, done: 1, total: 2 });
        await step(`step ${key}`, () => key);
        await enqueue('more', { context_id, input: `say: got ${key}`, metadata: { key } });
        await spawn('child', { input: `say: child has ${key}`, name: `w ${key}`, detached: true });
        return { key, encoded: encodeURIComponent(key), list: [`x${key}x`] };
      },
    }),
    defineTool({
      ...any,
      name: 'fail',
      description: 'Fails.',
      effect: 'none',
      execute(_, { log }) {
        log.warn(key);
        throw new ToolError(`The key ${key} is refused.`, { code: key, cause: new Error(key) });
      },
    }),
    defineTool({
      ...any,
      name: 'crash',
      description: 'Crashes.',
      effect: 'none',
      execute() {
        throw Object.assign(new Error(`GET https://a.example/${key}`), { headers: { authorization: key } });
      },
    }),
  ],
});

test('no client, no prompt and no log gets a secret of a tool package', async () => {
  const lines: string[] = [];
  const output = new Writable({
    write(chunk, _, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const nightshift = await openNightshift({
    config: { tools: [talkative({ prefix: 't_' })], roles: { talker: { tools: ['t_tell', 't_fail', 't_crash'] } } },
    env: { TALK_KEY: SECRET },
    logger: pino({ level: 'debug' }, output),
  });
  await nightshift.startWorker();
  const acme = nightshift.tenant('acme');
  const handler = await nightshift.fetchHandler({
    authenticate: () => ({ tenant: 'acme', scopes: ['read', 'run', 'configure', 'approve'] }),
  });
  const answers = new Map<string, string>();
  const read = async (path: string): Promise<unknown> => {
    const response = await handler(new Request(`http://a.example${path}`));
    const text = await response.text();
    expect([path, response.status, text]).toEqual([path, 200, text]);
    answers.set(path, text);
    return text.startsWith('{') ? JSON.parse(text) : null;
  };
  const ids = async (path: string): Promise<string[]> => {
    const { data } = (await read(path)) as { data: { id: string }[] };
    return data.map(({ id }) => id);
  };
  const script = ['call: t_tell {}', 'call: t_fail {}', 'call: t_crash {}', 'say: done'].join('\n---\n');
  const { job_id } = await acme.workers.create({
    name: 'w',
    role: 'talker',
    config: { model: 'simulated/m' },
    input: script,
  });
  expect(await acme.jobs.wait(job_id)).toMatchObject({ status: 'completed', output: { text: 'done' } });
  // Those of the child, and of the input that the tool queued.
  const jobs = await ids('/api/jobs');
  expect(jobs).toHaveLength(3);
  for (const job of jobs) expect((await acme.jobs.wait(job)).status).toBe('completed');
  for (const job of jobs) {
    await read(`/api/jobs/${job}`);
    await read(`/api/jobs/${job}/logs`);
    const { data } = (await read(`/api/jobs/${job}/steps`)) as { data: { n: number | null }[] };
    for (const { n } of data) if (n !== null) await read(`/api/jobs/${job}/steps/${n}/prompt`);
  }
  for (const context of await ids('/api/contexts')) {
    for (const part of ['', '/messages', '/state', '/export', '/turns']) await read(`/api/contexts/${context}${part}`);
    for await (const event of acme.contexts.events(context, {
      after: 0,
      until: ({ event: name }) => name === 'JobFinished',
    }))
      answers.set(`event of ${context}: ${event.event}`, JSON.stringify(event));
    for (const call of callsOf(context, answers)) await read(`/api/contexts/${context}/tools/${call}`);
  }
  for (const path of [
    '/api/workers',
    '/api/roles',
    '/api/system',
    '/api/stats',
    '/api/openapi.json',
    '/api/search?q=key',
  ])
    await read(path);
  const shown = [...answers.values(), ...lines].join('\n');
  // It was there, and in each place it was hidden.
  expect(shown.match(/\[secret TALK_KEY\]/g)?.length).toBeGreaterThan(15);
  for (const form of [SECRET, encodeURIComponent(SECRET), new URLSearchParams({ a: SECRET }).toString().slice(2)])
    expect([...answers].filter(([, text]) => text.includes(form)).map(([path]) => path)).toEqual([]);
  expect(lines.filter((line) => line.includes('show this') || line.includes('show%20this'))).toEqual([]);
  expect(lines.join('')).toContain('details of the tool error');
});

/** The ids of the calls in the messages of a context. */
function callsOf(context: string, answers: ReadonlyMap<string, string>): string[] {
  const messages = answers.get(`/api/contexts/${context}/messages`) ?? '';
  return [...messages.matchAll(/"type":"tool_use","id":"([^"]+)"/g)].map(([, id = '']) => id);
}
