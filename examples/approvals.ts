/**
 * A tool that needs approval: three refunds wait at the same time. One is approved, one is denied with a reason for the
 * model, and one runs with a different amount. Refunds up to 20 € need no approval (`nightshift.config.ts`).
 *
 *   NIGHTSHIFT_CONFIG=examples/nightshift.config.ts npm start     in one terminal
 *   node examples/approvals.ts                                    in another; with Node.js older than 24: npm run example -- approvals
 */
import { createClient, type RunOptions } from 'nightshift/client';
import { explainErrors } from './errors.ts';

explainErrors();

const url = process.env['NIGHTSHIFT_URL'] ?? 'http://127.0.0.1:3000';
const client = createClient({ url, apiKey: process.env['NIGHTSHIFT_API_KEY'] });

const worker = await client.workers.create({ name: 'cashier', role: 'shop' });

// With a real model: set it in the role, and write the task as plain text: 'Pay back 180 € for A-17, …'
const script = `
call: refund {"order": "A-17", "amount": 180}
call: refund {"order": "B-04", "amount": 25}
call: refund {"order": "C-30", "amount": 900}
call: refund {"order": "D-01", "amount": 5}
---
say: I paid back what was approved.`;

/** The decisions that a person would make in the console's inbox, or with `nightshift approve`. */
const decide: RunOptions['onApproval'] = ({ input }) => {
  const asked = JSON.stringify(input);
  console.log(`approval requested: ${asked}`);
  if (asked.includes('B-04')) return { decision: 'deny', reason: 'B-04 was never paid.' };
  if (asked.includes('C-30')) return { decision: 'approve', input: { order: 'C-30', amount: 90 } };
  return 'approve';
};

// Without `onApproval`, the calls wait, for days if needed: you can end this process and approve them later.
const job = await client.contexts.run(worker.context_id, { input: script, onApproval: decide });

for await (const { content } of client.contexts.messages.list(worker.context_id)) {
  for (const block of content) {
    if (block.type === 'tool_result') console.log('→', block.content);
  }
}
console.log(`${job.status}: ${job.output?.text}`);
