/**
 * A tool controlled by its arguments: it sleeps, throws, returns anything, ignores its abort. It reports its start and
 * end, to a callback or as lines of a file (`begin <tool_call_id> <idempotency_key>`), so that tests in any process can
 * count its real runs.
 */
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ToolError, type JsonSchemaTool, type ToolContext, type ToolReturn, type Effect } from '../../src/index.ts';

export type FaultyInput = {
  /** Returned as the result. */
  say?: string;
  /** The length of the result in characters. */
  characters?: number;
  sleep_ms?: number;
  /** Sleeps on after an abort, and answers late. */
  ignore_abort?: boolean;
  /** Never answers at all. */
  hang?: boolean;
  /** The message of the error it throws, after its sleep. */
  throws?: string;
  /** Throws before it has returned a promise. */
  throws_at_once?: string;
  /** The message of an error for the model. */
  throws_publicly?: string;
  /** Its code. */
  code?: string;
  gives?: keyof typeof GIFTS;
};

export type Run = { at: 'begin' | 'end'; tool_call_id: string; idempotency_key: string };

export type FaultyOptions = {
  name?: string;
  effect?: Effect;
  timeout_ms?: number;
  /** Receives every start and end. */
  onRun?: (run: Run) => void;
  /** A line is appended for every start and end. */
  file?: string;
};

/** Results that are hard to store or send. */
const GIFTS = {
  nothing: () => undefined,
  null: () => null,
  number: () => 42,
  nul: () => 'before\0after',
  lone_surrogates: () => `\ud800 and \udc00`,
  bigint: () => ({ big: 2n ** 70n }),
  cycle: () => {
    const cycle: Record<string, unknown> = { a: 1 };
    cycle['self'] = cycle;
    return cycle;
  },
  unreadable: () => ({
    get value(): never {
      throw new Error('this value cannot be read');
    },
  }),
  error_reply: () => ({ content: 'it did not work', is_error: true, compact_summary: 'failed' }),
} satisfies Record<string, () => unknown>;

export function faultyTool(options: FaultyOptions = {}): JsonSchemaTool {
  return {
    name: options.name ?? 'faulty',
    description: 'Does what its arguments say.',
    effect: options.effect ?? 'none',
    timeout_ms: options.timeout_ms,
    input_schema: {
      type: 'object',
      properties: {
        say: { type: 'string' },
        characters: { type: 'integer', minimum: 0 },
        sleep_ms: { type: 'integer', minimum: 0 },
        ignore_abort: { type: 'boolean' },
        hang: { type: 'boolean' },
        throws: { type: 'string' },
        throws_at_once: { type: 'string' },
        throws_publicly: { type: 'string' },
        code: { type: 'string' },
        gives: { enum: Object.keys(GIFTS) },
      },
      additionalProperties: false,
    },
    execute(input: FaultyInput, context) {
      tell(options, 'begin', context);
      if (input.throws_at_once !== undefined) throw new Error(input.throws_at_once);
      return act(input, context).finally(() => tell(options, 'end', context));
    },
  };
}

async function act(input: FaultyInput, { signal }: ToolContext): Promise<ToolReturn> {
  if (input.hang === true) await new Promise(() => {});
  if (input.sleep_ms !== undefined) {
    await sleep(input.sleep_ms, undefined, input.ignore_abort === true ? {} : { signal });
  }
  if (input.throws !== undefined) throw new Error(input.throws);
  if (input.throws_publicly !== undefined) throw new ToolError(input.throws_publicly, { code: input.code });
  // Values that a tool's type forbids are the subject of a test.
  if (input.gives !== undefined) return GIFTS[input.gives]() as ToolReturn;
  return input.characters === undefined ? (input.say ?? 'done') : 'x'.repeat(input.characters);
}

function tell({ onRun, file }: FaultyOptions, at: Run['at'], context: ToolContext): void {
  const { tool_call_id, idempotency_key } = context;
  onRun?.({ at, tool_call_id, idempotency_key });
  if (file !== undefined) appendFileSync(file, `${at} ${tool_call_id} ${idempotency_key}\n`);
}
