/**
 * Driving a worker while it runs: an input steers it, joining the running job at its next step; an answer is interrupted
 * while its text is made, and taken back.
 *
 *   npm start
 *   node examples/steering.ts       where Node is older than 24: npm run example -- steering
 */
import { createClient, textMaker } from 'nightshift/client';
import { explainErrors } from './errors.ts';

explainErrors();

const url = process.env['NIGHTSHIFT_URL'] ?? 'http://127.0.0.1:3000';
const client = createClient({ url, apiKey: process.env['NIGHTSHIFT_API_KEY'] });

const { context_id: id } = await client.workers.create({
  name: 'poet',
  config: {
    // A real model: 'anthropic/…' or 'openai/…' here, its key in the environment of `npm start`, and plain words below.
    model: 'simulated/demo',
    client_tools: [
      {
        name: 'find_rhyme',
        description: 'Finds a rhyme.',
        input_schema: { type: 'object', properties: { word: { type: 'string' } } },
      },
    ],
  },
});

// Steer: while a tool runs, somebody changes their mind. The job goes on with both: the result, and the new input.
const steered = await client.contexts.run(id, {
  input:
    'say: Forty verses about the sea. First a rhyme.\ncall: find_rhyme {"word": "sea"}\n---\ntokens: 400',
  tools: {
    find_rhyme: async (_, { job_id }) => {
      const content = 'say: One verse, then. I see the sea.';
      const accepted = await client.contexts.send(id, { content, delivery: 'steer' });
      console.log(`steer: joined the running job: ${accepted.job_id === job_id}`);
      return 'see';
    },
  },
});
console.log(`steer: ${steered.status}: ${steered.output?.text}`);

// Interrupt: this answer would take ten minutes.
const { job_id } = await client.contexts.send(id, 'tokens: 5000 over 10m');
const making = textMaker();
for await (const event of client.contexts.events(id)) {
  const message = making(event);
  if (message === null || message.text.length < 40) continue;
  console.log(`interrupt: it says “${message.text.slice(0, 30)} …”`);
  break;
}
await client.contexts.interrupt(id);
const interrupted = await client.jobs.wait(job_id);
console.log(`interrupt: ${interrupted.status}, and its answer is taken back`);

// The input stays in history, and the conversation goes on.
const last = await client.contexts.run(id, { input: 'say: Where were we?' });
console.log(`after it: ${last.output?.text}`);
