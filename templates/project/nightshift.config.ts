import { defineConfig } from 'nightshift';
import { orderStatus } from './tools/order-status.ts';

export default defineConfig({
  tools: [orderStatus],
  roles: {
    support: {
      system_prompt: 'You answer questions about orders. Look an order up before you say anything about it.',
      tools: [orderStatus.name],
      // No model: that of NIGHTSHIFT_DEFAULT_MODEL, or of the only provider with a key, or else the simulated one.
    },
  },
});
