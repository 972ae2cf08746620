/** The config file of the benchmark. */
import { defineConfig } from 'nightshift';
import { LOOK, look } from '../tool.ts';

export default defineConfig({
  tools: [
    {
      name: LOOK.name,
      description: LOOK.description,
      input_schema: LOOK.parameters,
      effect: 'none',
      execute: async (input: unknown) => look(input),
    },
  ],
});
