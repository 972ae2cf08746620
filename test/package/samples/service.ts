// A service that embeds the platform; it ends by itself. It compiles without the types of Node.
import { createNightshift, defineTool, type NightshiftCaller } from 'nightshift';

const doubled: number[] = [];
const double = defineTool({
  name: 'double',
  description: 'Doubles a number.',
  input_schema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  effect: 'none',
  execute: ({ n }) => doubled.push(2 * n),
});
declare const process: { env: Record<string, string | undefined>; stdout: { write(text: string): void } };
const nightshift = await createNightshift({ env: process.env, migrate: true, config: { tools: [double] } });
await nightshift.startWorker();
const caller: NightshiftCaller = { tenant: 'acme', scopes: ['read'] };
const handle = await nightshift.fetchHandler({
  authenticate: ({ headers }) => (headers.has('x-known') ? caller : null),
});
const client = nightshift.tenant('acme');
const config = { model: 'simulated/default', tools: ['double'] };
const { job_id } = await client.workers.create({ name: 'w', config, input: 'call: double {"n": 21}\n---\nsay: done' });
const { output } = await client.jobs.wait(job_id);
const answer = await handle(new Request('http://service.test/api/jobs', { headers: { 'x-known': '1' } }));
await nightshift.stop();
process.stdout.write(JSON.stringify({ output: output?.text, doubled, status: answer.status }));
