/**
 * Control a worker while it runs: an input steers the running job and joins it at its next step; an answer is
 * interrupted during generation and removed.
 *
 *   npm start                     in one terminal
 *   node examples/steering.ts     in another; with Node.js older than 24: npm run example -- steering
 */
import { createClient, textMaker } from 'nightshift/client';
import { explainErrors } from './errors.ts';

explainErrors();

const url = process.env['NIGHTSHIFT_URL'] ?? 'http://127.0.0.1:3000';
const client = createClient({ url, apiKey: process.env['NIGHTSHIFT_API_KEY'] });

const { context_id: id } = await client.workers.create({
  name: 'poet',
  config: {
    // With a real model: 'anthropic/…' or 'openai/…', with its key in the environment of `npm start`.
    model: 'simulated/demo',
    client_tools: [
      {
        name: 'find_rhyme',
        description: 'Finds a rhyme for a word.',
        input_schema: { type: 'object', properties: { word: { type: 'string' } } },
      },
    ],
  },
});

// Steer: a new input arrives while a tool runs. The job continues with both the tool result and the new input.
const steered = await client.contexts.run(id, {
  input: 'say: Forty verses about the sea. First a rhyme.\ncall: find_rhyme {"word": "sea"}\n---\ntokens: 400',
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
  console.log(`interrupt: partial answer “${message.text.slice(0, 30)} …”`);
  break;
}
await client.contexts.interrupt(id);
const interrupted = await client.jobs.wait(job_id);
console.log(`interrupt: ${interrupted.status}, and its answer is removed`);

// The input stays in the history, and the conversation continues.
const last = await client.contexts.run(id, { input: 'say: Where were we?' });
console.log(`next answer: ${last.output?.text}`);
