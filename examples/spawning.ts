/**
 * A worker that spawns workers: three readers in parallel, one of which spawns its own child. A waiting worker uses no
 * slot, so a tree of any size runs on one worker process.
 *
 *   npm start                     in one terminal
 *   node examples/spawning.ts     in another; with Node.js older than 24: npm run example -- spawning
 */
import { createClient, type WorkerTreeNode } from 'nightshift/client';
import { explainErrors } from './errors.ts';

explainErrors();

const url = process.env['NIGHTSHIFT_URL'] ?? 'http://127.0.0.1:3000';
const client = createClient({ url, apiKey: process.env['NIGHTSHIFT_API_KEY'] });

const lead = await client.workers.create({
  name: 'lead',
  // With a real model: set it here; input: 'Have three workers read chapters 1 to 3. What do they have in common?'
  config: { model: 'simulated/demo', tools: ['spawn_worker'] },
});

const spawn = (name: string, input: string): string => `call: spawn_worker ${JSON.stringify({ name, input })}`;

const script = [
  spawn('reader 1', 'tokens: 20 over 500ms\nsay: It begins at sea.'),
  spawn('reader 2', 'say: It ends at sea.'),
  spawn('reader 3', `${spawn('translator', 'say: mare')}\n---\nsay: One word is Latin: mare.`),
  '---',
  'say: All three are about the sea.',
].join('\n');

const job = await client.contexts.run(lead.context_id, {
  input: script,
  onEvent: ({ event, data }) => {
    if (event === 'WorkerSpawned') console.log(`spawned ${data.name}`);
    if (event === 'StateChanged' && data.new_state === 'AwaitingWorkers') console.log('waiting for the workers');
  },
});

function draw({ name, job, usage, children }: WorkerTreeNode, indent = ''): void {
  console.log(`${indent}${name}: ${job?.status}, ${usage.input_tokens + usage.output_tokens} tokens`);
  for (const child of children) draw(child, `${indent}  `);
}

console.log(`\n${job.status}: ${job.output?.text}\n`);
draw(await client.workers.tree(lead.id));
