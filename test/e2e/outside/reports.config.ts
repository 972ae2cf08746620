// A config file with a tool that reports, and ends once a file exists.
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineConfig } from '../../../src/index.ts';

const gate = process.env['REPORTS_GATE'] ?? '';

export default defineConfig({
  tools: [
    {
      name: 'stir',
      description: 'Stirs.',
      input_schema: { type: 'object', properties: {}, additionalProperties: false },
      effect: 'idempotent',
      async execute(_input, { signal, log, progress }) {
        log.info('begun', { pid: process.pid });
        progress({ message: 'stirring', done: 1, total: 2 });
        while (!existsSync(gate)) await sleep(20, undefined, { signal });
        log.info('stirred');
        return 'stirred';
      },
    },
  ],
});
