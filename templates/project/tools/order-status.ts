import { ToolError, defineTool } from 'nightshift';
import { z } from 'zod';

/** In place of your database. */
const orders = new Map([
  ['A-17', { status: 'shipped', parcel: 'P-9001' }],
  ['B-04', { status: 'packing', parcel: null }],
]);

export const orderStatus = defineTool({
  name: 'order_status',
  description: 'Returns where an order is.',
  input: z.object({ order: z.string().describe('The number of the order, such as A-17') }),
  // What running it twice does: none, idempotent or once. After a crash, Nightshift acts on it.
  effect: 'none',
  execute({ order }, { log }) {
    const found = orders.get(order);
    if (found === undefined) throw new ToolError(`There is no order ${order}.`, { code: 'unknown_order' });
    log.info('looked up', { order });
    return { order, ...found };
  },
});
