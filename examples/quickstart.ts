/**
 * Create a worker with its first input, stream the text, and read the answer.
 *
 *   npm start                       in one terminal
 *   node examples/quickstart.ts     in another; with Node.js older than 24: npm run example -- quickstart
 */
import { createClient, textMaker } from 'nightshift/client';
import { explainErrors } from './errors.ts';

explainErrors();

const url = process.env['NIGHTSHIFT_URL'] ?? 'http://127.0.0.1:3000';
const client = createClient({ url, apiKey: process.env['NIGHTSHIFT_API_KEY'] });

// With a real model: 'anthropic/…' or 'openai/…', with its key in the environment of `npm start`, and plain text below.
const { context_id, job_id } = await client.workers.create({
  name: 'ada',
  config: { model: 'simulated/demo' },
  input: 'tokens: 40 over 1s',
});
console.log(`Job ${job_id} is stored. It will finish even if a process crashes.\n`);

const making = textMaker();
let shown = 0;
for await (const event of client.contexts.events(context_id, { after: 0 })) {
  const message = making(event);
  if (message !== null) {
    process.stdout.write(message.text.slice(shown));
    shown = message.text.length;
  }
  if (event.event === 'JobFinished') break;
}

const job = await client.jobs.get(job_id);
console.log(`\n\n${job.status}: ${job.output?.text.length} characters, ${job.usage.output_tokens} tokens.`);
