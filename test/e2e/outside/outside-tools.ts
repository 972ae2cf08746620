// Tools with an effect outside the platform: a line of a file. The tool writes `begin` when it starts, and its effect
// as `end`.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Effect, JsonSchemaTool, Reconciliation } from '../../../src/index.ts';

/** `notify` receives every effect once it is done. */
export function outsideTools(file: string, notify: (what: string) => void = () => undefined): JsonSchemaTool[] {
  return [
    outsideTool('look', 'none', file, notify),
    outsideTool('put', 'idempotent', file, notify),
    outsideTool('mail', 'once', file, notify),
    outsideTool('pay', 'once', file, notify),
    // A person approves this one, denies it, or approves it with other arguments.
    guardedTool(file),
    trip(file, notify),
    // A person has to report the outcome of this one; the next one knows by itself.
    { ...outsideTool('wire', 'once', file, notify), on_unknown: 'ask' },
    {
      ...outsideTool('book', 'once', file, notify),
      reconcile: ({ idempotency_key: key }) => recordedOutcome(file, 'book', key),
    },
  ];
}

const gateOf = (file: string): string => `${file}.gate`;

/** Releases all calls that wait for it, and all later ones. */
export function openAccessControl(file: string): void {
  writeFileSync(gateOf(file), '');
}

async function passGate(file: string, signal: AbortSignal): Promise<void> {
  while (!existsSync(gateOf(file))) await sleep(20, undefined, { signal });
}

type Input = {
  /** Before the effect, and after it. */
  before_ms?: number;
  after_ms?: number;
  /** Its effect waits until the gate is open. */
  gated?: boolean;
};

function outsideTool(name: string, effect: Effect, file: string, notify: (what: string) => void): JsonSchemaTool {
  const ms = { type: 'integer', minimum: 0 };
  return {
    name,
    effect,
    description: `Has its effect: ${effect}.`,
    input_schema: {
      type: 'object',
      properties: { before_ms: ms, after_ms: ms, gated: { type: 'boolean' } },
      additionalProperties: false,
    },
    async execute({ before_ms = 0, after_ms = 0, gated = false }: Input, { signal, idempotency_key }) {
      const note = (what: string): void => appendFileSync(file, `${what} ${name} ${idempotency_key}\n`);
      note('begin');
      await sleep(before_ms, undefined, { signal });
      if (gated) await passGate(file, signal);
      note('effect');
      notify(`${name} outside`);
      await sleep(after_ms, undefined, { signal });
      note('end');
      return `${name}: done`;
    },
  };
}

/** Two steps with an effect each. Between them it starts a worker, and queues an input in its own context. */
function trip(file: string, notify: (what: string) => void): JsonSchemaTool {
  return {
    name: 'trip',
    effect: 'idempotent',
    description: 'Has several effects.',
    input_schema: { type: 'object', additionalProperties: false },
    async execute(_, { step, spawn, enqueue, context_id }) {
      const effectOf = (name: string): Promise<string> =>
        step(name, ({ idempotency_key }) => {
          appendFileSync(file, `effect trip ${idempotency_key}\n`);
          notify('trip outside');
          return name;
        });
      const first = await effectOf('pack');
      await spawn('guide', { input: 'say: I lead', tools: [] });
      await enqueue('remind', { context_id, input: 'say: remembered' });
      return `${first}, ${await effectOf('leave')}`;
    },
  };
}

/** Records the arguments with which it ran. */
function guardedTool(file: string): JsonSchemaTool {
  const note = (what: string, key: string): void => appendFileSync(file, `${what} guard ${key}\n`);
  return {
    name: 'guard',
    effect: 'once',
    approval: 'always',
    description: 'Has its effect once it is approved.',
    input_schema: {
      type: 'object',
      properties: { word: { type: 'string' } },
      required: ['word'],
      additionalProperties: false,
    },
    execute({ word }: { word: string }, { idempotency_key: key }) {
      note('begin', key);
      note(withWord(word), key);
      note('effect', key);
      note('end', key);
      return 'guard: done';
    },
  };
}

/** The effect of a guarded call. */
export function withWord(word: string): string {
  return `with:${word}`;
}

/** The outcome of a call, by the recorded effects. */
function recordedOutcome(file: string, name: string, key: string): Reconciliation {
  return hasHappened(file, name, key)
    ? { outcome: 'happened', result: `${name}: done` }
    : { outcome: 'did_not_happen' };
}

export function hasHappened(file: string, name: string, key: string): boolean {
  return readOutside(file).some((line) => line.what === 'effect' && line.name === name && line.key === key);
}

export type Outside = { what: string; name: string; key: string };

/** The recorded effects, in order. */
export function readOutside(file: string): Outside[] {
  return readFileSync(file, { encoding: 'utf8', flag: 'a+' })
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [what = '', name = '', key = ''] = line.split(' ');
      return { what, name, key };
    });
}
