// Tools of the service beside the platform. `sell` writes a row of the service in the transaction that stores its
// result. `tour` has durable steps; a file of effects tells when each ran, and what its call got.
import { appendFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonSchemaTool, TransactionalJsonSchemaTool } from '../../src/index.ts';

export const SELL = 'sell';
export const TOUR = 'tour';

/** In the database of the platform; it belongs to the service. */
export const SALES = 'public.sales';
export const MAKE_SALES = `create table ${SALES} (id bigserial primary key, call_id uuid not null)`;

export const STEPS = ['pack', 'walk', 'rest'] as const;

const MS = { type: 'integer', minimum: 0 } as const;

/** `fails`: after it has written. */
export type SellInput = { before_ms?: number; after_ms?: number; fails?: boolean };

export function sellTool(): TransactionalJsonSchemaTool {
  return {
    name: SELL,
    transactional: true,
    description: 'Writes a row.',
    input_schema: {
      type: 'object',
      properties: { before_ms: MS, after_ms: MS, fails: { type: 'boolean' } },
      additionalProperties: false,
    },
    async execute({ before_ms = 0, after_ms = 0, fails = false }: SellInput, { tx, tool_call_id: callId, signal }) {
      await sleep(before_ms, undefined, { signal });
      await tx.query(`insert into ${SALES} (call_id) values ($1)`, [callId]);
      await sleep(after_ms, undefined, { signal });
      if (fails) throw new Error('sold out');
      return `${SELL}: done`;
    },
  };
}

/** A line of the file about the execution `run`. The value of a step is the run that carried it out. */
export const TOUR_LINES = {
  begin: (run: string): string => `begin:${run}`,
  ran: (step: string, run: string): string => `ran:${run}:${step}`,
  got: (step: string, run: string, value: string): string => `got:${run}:${step}:${value}`,
} as const;

export function tourTool(file: string): JsonSchemaTool {
  return {
    name: TOUR,
    effect: 'idempotent',
    description: 'Has an effect in each of its steps.',
    input_schema: { type: 'object', properties: { step_ms: MS }, additionalProperties: false },
    async execute({ step_ms: ms = 0 }: { step_ms?: number }, { step, signal, idempotency_key: key }) {
      const run = randomUUID();
      const note = (what: string): void => appendFileSync(file, `${what} ${TOUR} ${key}\n`);
      note(TOUR_LINES.begin(run));
      for (const [at, name] of STEPS.entries()) {
        const value = await step(name, async () => {
          note(TOUR_LINES.ran(name, run));
          // Not the first one: a process that dies during the call then dies after a result was stored.
          if (at > 0) await sleep(ms, undefined, { signal });
          return run;
        });
        note(TOUR_LINES.got(name, run, value));
      }
      note('effect');
      return `${TOUR}: done`;
    },
  };
}
