// Tools with an effect in the outside world: a line of a file. The tool's way is `begin`, its effect, `end`.
import { appendFileSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonSchemaTool } from '../../src/index.ts';
import type { Effect } from '../../src/index.ts';

/** `told` hears of every effect once it is done. */
export function outsideTools(file: string, told: (what: string) => void = () => undefined): JsonSchemaTool[] {
  return [
    outsideTool('look', 'none', file, told),
    outsideTool('put', 'idempotent', file, told),
    outsideTool('mail', 'once', file, told),
    outsideTool('pay', 'once', file, told),
  ];
}

type Input = {
  /** Before the effect, and after it. */
  before_ms?: number;
  after_ms?: number;
};

function outsideTool(
  name: string,
  effect: Effect,
  file: string,
  told: (what: string) => void,
): JsonSchemaTool {
  const ms = { type: 'integer', minimum: 0 };
  return {
    name,
    effect,
    description: `Has its effect: ${effect}.`,
    input_schema: {
      type: 'object',
      properties: { before_ms: ms, after_ms: ms },
      additionalProperties: false,
    },
    async execute({ before_ms = 0, after_ms = 0 }: Input, { signal, idempotency_key }) {
      const note = (what: string): void => appendFileSync(file, `${what} ${name} ${idempotency_key}\n`);
      note('begin');
      await sleep(before_ms, undefined, { signal });
      note('effect');
      told(`${name} outside`);
      await sleep(after_ms, undefined, { signal });
      note('end');
      return `${name}: done`;
    },
  };
}

export type Outside = { what: string; name: string; key: string };

/** What happened in the outside world, in order. */
export function readOutside(file: string): Outside[] {
  return readFileSync(file, { encoding: 'utf8', flag: 'a+' })
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [what = '', name = '', key = ''] = line.split(' ');
      return { what, name, key };
    });
}
