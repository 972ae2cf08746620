// A config file for the tests of the console: a tool that looks, one that needs approval, one that waits for a signal,
// one whose outcome stays unknown, one that reports what it does, and a role.
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig, type JsonSchemaTool } from '../../../src/index.ts';

/** The tools of each context write to a file of its own in this folder. */
const effects = process.env['EFFECTS'] ?? '.';

function record(contextId: string, line: string): void {
  appendFileSync(path.join(effects, contextId), `${line}\n`);
}

const lookUp: JsonSchemaTool = {
  name: 'look_up',
  description: 'Looks a word up.',
  effect: 'none',
  input_schema: {
    type: 'object',
    properties: { word: { type: 'string' } },
    required: ['word'],
    additionalProperties: false,
  },
  execute: ({ word }: { word: string }) => `${word}: a word`,
};

const sendMail: JsonSchemaTool = {
  name: 'send_mail',
  description: 'Sends a mail outside.',
  effect: 'once',
  approval: 'always',
  input_schema: {
    type: 'object',
    properties: { to: { type: 'string' }, text: { type: 'string' } },
    required: ['to', 'text'],
    additionalProperties: false,
  },
  execute({ to, text }: { to: string; text: string }, { context_id }) {
    record(context_id, `${to}: ${text}`);
    return `sent to ${to}`;
  },
};

/** It never returns by itself: a kill of the process leaves a call with an unknown outcome. */
const wireMoney: JsonSchemaTool = {
  name: 'wire_money',
  description: 'Moves money; what became of a call is for a person to say.',
  effect: 'once',
  on_unknown: 'ask',
  timeout_ms: 600_000,
  input_schema: {
    type: 'object',
    properties: { amount: { type: 'integer', minimum: 1 } },
    required: ['amount'],
    additionalProperties: false,
  },
  execute({ amount }: { amount: number }, { signal, context_id }) {
    record(context_id, `wire ${amount}`);
    return new Promise<string>((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
    });
  },
};

/** It reports, and then waits until its job is cancelled. */
const pack: JsonSchemaTool = {
  name: 'pack',
  description: 'Packs a parcel.',
  effect: 'none',
  input_schema: { type: 'object', properties: {}, additionalProperties: false },
  execute(_input, { signal, log, progress }) {
    log.debug('looking for a box');
    log.info('weighing', { order: 'A-17', kilograms: 2.5 });
    log.warn('the scale is not level');
    log.error('no tape is left', { shelf: 3 });
    progress({ message: 'packing', done: 2, total: 5 });
    return new Promise<string>((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
    });
  },
};

export default defineConfig({
  tools: [lookUp, sendMail, wireMoney, pack],
  prices: {
    'simulated/priced': { input: 1_000, output: 1_000, cache_read: 0, cache_write: 0 },
  },
  roles: {
    clerk: {
      system_prompt: 'You look words up, and send a mail on request.',
      model: 'simulated/clerk',
      tools: ['look_up', 'send_mail', 'ask_user', 'spawn_worker'],
    },
  },
});
