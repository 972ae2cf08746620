/**
 * Custom tools: on the server (`nightshift.config.ts` beside this file) and in the client. `read_clipboard` is a
 * function of this process, which the model calls like any other tool.
 *
 *   NIGHTSHIFT_CONFIG=examples/nightshift.config.ts npm start     in one terminal
 *   node examples/tools.ts                                        in another; with Node.js older than 24: npm run example -- tools
 */
import { createClient } from 'nightshift/client';
import { explainErrors } from './errors.ts';

explainErrors();

const url = process.env['NIGHTSHIFT_URL'] ?? 'http://127.0.0.1:3000';
const client = createClient({ url, apiKey: process.env['NIGHTSHIFT_API_KEY'] });

const worker = await client.workers.create({
  name: 'clerk',
  role: 'shop',
  config: {
    client_tools: [
      {
        name: 'read_clipboard',
        description: 'Returns the user’s clipboard.',
        input_schema: { type: 'object', properties: {} },
      },
    ],
  },
});

// With a real model, set it in the role. Input: 'What about the order I copied? Reserve a lamp for it, and pay 5 € back.'
const script = `
call: read_clipboard {}
call: order_status {"order": "A-17"}
---
call: reserve {"order": "A-17", "article": "lamp"}
call: refund {"order": "A-17", "amount": 5}
call: order_status {"order": "Z-99"}
---
say: A-17 is on its way, a lamp is reserved, and 5 € are refunded. Order Z-99 does not exist.`;

const job = await client.contexts.run(worker.context_id, {
  input: script,
  tools: { read_clipboard: () => 'A-17' },
});

for await (const step of client.jobs.steps(job.id)) {
  if (step.kind === 'tool') console.log(`${step.name}: ${step.status}`);
}
for await (const { content } of client.contexts.messages.list(worker.context_id)) {
  for (const block of content) {
    if (block.type === 'tool_result') console.log(block.is_error ? '✗' : '→', block.content);
  }
}
console.log(`${job.status}: ${job.output?.text}`);
