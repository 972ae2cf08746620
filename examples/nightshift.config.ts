/**
 * The tools and the role of a shop, for `tools.ts` and `approvals.ts`. The schemas use zod; any Standard Schema library
 * works, and so does plain JSON Schema (`input_schema`).
 *
 * NIGHTSHIFT_CONFIG=examples/nightshift.config.ts npm start
 *
 * `effect` tells what executing a tool twice does, and decides what happens to a call that a crash interrupted: `none`
 * and `idempotent` calls run again; a `once` call does not, and the model is told that its outcome is unknown.
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
  description: 'Returns the state of an order.',
  input: z.object({ order }),
  effect: 'none',
  execute({ order }) {
    const found = orders.get(order);
    return found === undefined
      ? { content: `No order has the number ${order}.`, is_error: true }
      : `${order} (${found.total} €) ${found.state}.`;
  },
});

const reserve = defineTool({
  name: 'reserve',
  description: 'Reserves an article for an order.',
  input: z.object({ order, article: z.string() }),
  effect: 'idempotent',
  // The key is the same at every execution of this call, so a repetition changes nothing.
  execute({ order, article }, { idempotency_key }) {
    const text = reserved.get(idempotency_key) ?? `${article} is reserved for ${order}.`;
    reserved.set(idempotency_key, text);
    return text;
  },
});

const refund = defineTool({
  name: 'refund',
  description: 'Pays money back to the customer.',
  input: z.object({ order, amount: z.number().positive() }),
  effect: 'once',
  approval: ({ input }) => (input.amount > 20 ? 'always' : 'never'),
  execute: ({ order, amount }) => `${amount} € were paid back for ${order}.`,
});

export default defineConfig({
  tools: [orderStatus, reserve, refund],
  roles: {
    shop: {
      system_prompt: 'You answer questions about orders, and refund customers if the shop made a mistake.',
      tools: ['order_status', 'reserve', 'refund'],
      // With a real model: 'anthropic/…' or 'openai/…', with its key in the environment of `npm start`.
      model: 'simulated/demo',
    },
  },
});
