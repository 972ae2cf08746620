// A config file with a tool that logs.
import { defineConfig } from '../../src/index.ts';

export default defineConfig({
  tools: [
    {
      name: 'tare',
      description: 'Logs, and waits until its job is cancelled.',
      input_schema: { type: 'object', properties: {}, additionalProperties: false },
      effect: 'none',
      async execute(_input, { log, signal }) {
        log.info('waiting for the scale to be empty');
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
        return 'empty';
      },
    },
    {
      name: 'weigh',
      description: 'Weighs.',
      input_schema: { type: 'object', properties: {}, additionalProperties: false },
      effect: 'none',
      execute(_input, { log, progress }) {
        log.debug('looking for the scale');
        log.warn('not level\u001b[2J', { degrees: 3 });
        progress({ message: 'weighing', done: 1, total: 2 });
        return '2.5 kg';
      },
    },
  ],
});
