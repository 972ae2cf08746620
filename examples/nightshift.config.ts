/**
 * A shop's tools and the role that may use them, for `tools.ts` and `approvals.ts`. Schemas are zod's here; any library of
 * Standard Schema does as well, and so does plain JSON Schema (`input_schema`).
 *
 *   NIGHTSHIFT_CONFIG=examples/nightshift.config.ts npm start
 *
 * `effect` says what running a tool twice would do, which decides what happens to a call that a crash cut off: `none` and
 * `idempotent` run again, `once` never does: the model is told that nobody knows whether it happened.
 */
import { defineConfig, defineTool } from 'nightshift';
import { z } from 'zod';

const orders = new Map([
  ['A-17', { total: 180, state: 'left the warehouse this morning' }],
  ['B-04', { total: 25, state: 'waits for its payment' }],
]);
const reserved = new Map<string, string>();

const order = z.string().describe('The number of the order, such as A-17.');

const orderStatus = defineTool({
  name: 'order_status',
  description: 'Where an order is.',
  input: z.object({ order }),
  effect: 'none',
  execute({ order }) {
    const found = orders.get(order);
    return found === undefined
      ? { content: `There is no order ${order}.`, is_error: true }
      : `${order} (${found.total} €) ${found.state}.`;
  },
});

const reserve = defineTool({
  name: 'reserve',
  description: 'Reserves an article for an order.',
  input: z.object({ order, article: z.string() }),
  effect: 'idempotent',
  // The key is the same however often this call is run: the second time changes nothing.
  execute({ order, article }, { idempotency_key }) {
    const text = reserved.get(idempotency_key) ?? `${article} is reserved for ${order}.`;
    reserved.set(idempotency_key, text);
    return text;
  },
});

const refund = defineTool({
  name: 'refund',
  description: 'Pays money back to whoever ordered.',
  input: z.object({ order, amount: z.number().positive() }),
  effect: 'once',
  approval: ({ input }) => (input.amount > 20 ? 'always' : 'never'),
  execute: ({ order, amount }) => `${amount} € were paid back for ${order}.`,
});

export default defineConfig({
  tools: [orderStatus, reserve, refund],
  roles: {
    shop: {
      system_prompt: 'You answer questions about orders, and pay money back where the shop was wrong.',
      tools: ['order_status', 'reserve', 'refund'],
      // A real model: 'anthropic/…' or 'openai/…', with its key in the environment of `npm start`.
      model: 'simulated/demo',
    },
  },
});
