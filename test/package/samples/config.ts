// A config file: each tool gets its input type from its own schema. Compiles without the types of Node.
import { ToolError, defineConfig, type OperatorConfig, type ToolReturn } from 'nightshift';

const config = defineConfig({
  tools: [
    {
      name: 'double',
      description: 'Doubles a number.',
      input_schema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
      effect: 'none',
      execute({ n }): string {
        if (n > 100) throw new ToolError('too large to double', { code: 'too_large' });
        return String(2 * n);
      },
    },
    {
      name: 'greet',
      description: 'Greets a person.',
      input_schema: {
        type: 'object',
        properties: { name: { type: 'string' }, loud: { type: 'boolean' } },
        required: ['name'],
      },
      effect: 'none',
      // @ts-expect-error: `loud` may be missing
      execute: ({ name, loud }) => `Hello ${name}${loud.valueOf() ? '!' : ''}`,
    },
  ],
  roles: { clerk: { model: 'simulated/default', tools: ['double'] } },
});
export const whole: OperatorConfig = config;

defineConfig({
  // @ts-expect-error: there is no such key
  rolls: {},
});

export const returns: ToolReturn[] = ['text', 1, true, null, { any: ['JSON'] }];
// @ts-expect-error: nothing is no JSON value
export const nothing: ToolReturn = undefined;
