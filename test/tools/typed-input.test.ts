/**
 * The input of a tool has the type that its schema describes, whatever library the schema is of (`tsc` checks this), and
 * the platform takes the schema: it describes the tool to the model and validates the arguments.
 */
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import { Type } from 'typebox';
import { describe, expect, expectTypeOf, test } from 'vitest';
import * as v from 'valibot';
import * as z from 'zod';
import {
  ToolError,
  defineConfig,
  defineTool,
  type ApprovalCall,
  type Json,
  type JsonObject,
  type OperatorConfig,
  type SchemaTool,
  type StandardSchema,
  type CallLog,
  type EnqueueInput,
  type RunStep,
  type SpawnWorker,
  type ToolContext,
  type ToolProgress,
  type ToolDefinition,
  type ToolErrorOptions,
  type ToolReturn,
  type UnknownCall,
} from '../../src/index.ts';
import { call, resultOf, runnerOf } from './invoke.ts';

const base = { name: 'hold', description: 'Holds an order.', effect: 'none' } as const;

/** What `execute` gets where the library converts the arguments, and where they stay as they are. */
type Converted = { order: string; days: number; wrapping: 'paper' | 'gift' };
type Unchanged = { order: string; days?: number; wrapping: 'paper' | 'gift' };

const withZod = defineTool({
  ...base,
  effect: 'once',
  input: z.object({ order: z.string(), days: z.int().default(3), wrapping: z.enum(['paper', 'gift']) }),
  approval(of) {
    expectTypeOf(of).toEqualTypeOf<ApprovalCall<Converted>>();
    return 'never';
  },
  execute(input) {
    expectTypeOf(input).toEqualTypeOf<Converted>();
    return input;
  },
  reconcile(of) {
    expectTypeOf(of).toEqualTypeOf<UnknownCall<Converted>>();
    return { outcome: 'unknown' };
  },
});

const withValibot = defineTool({
  ...base,
  input: toStandardJsonSchema(
    v.object({ order: v.string(), days: v.optional(v.number(), 3), wrapping: v.picklist(['paper', 'gift']) }),
  ),
  execute(input) {
    expectTypeOf(input).toEqualTypeOf<Converted>();
    return input;
  },
});

const withArkType = defineTool({
  ...base,
  input: type({ order: 'string', days: 'number = 3', wrapping: '"paper" | "gift"' }),
  execute(input) {
    expectTypeOf(input).toEqualTypeOf<Converted>();
    return input;
  },
});

const withTypeBox = defineTool({
  ...base,
  effect: 'once',
  input_schema: Type.Object({
    order: Type.String(),
    days: Type.Optional(Type.Number()),
    wrapping: Type.Union([Type.Literal('paper'), Type.Literal('gift')]),
  }),
  approval(of) {
    expectTypeOf(of).toEqualTypeOf<ApprovalCall<Unchanged>>();
    return 'never';
  },
  execute(input) {
    expectTypeOf(input).toEqualTypeOf<Unchanged>();
    return input;
  },
  reconcile(of) {
    expectTypeOf(of).toEqualTypeOf<UnknownCall<Unchanged>>();
    return { outcome: 'unknown' };
  },
});

const withJsonSchema = defineTool({
  ...base,
  input_schema: {
    type: 'object',
    properties: { order: { type: 'string' }, days: { type: 'number' }, wrapping: { enum: ['paper', 'gift'] } },
    required: ['order', 'wrapping'],
  },
  approval(of) {
    expectTypeOf(of).toEqualTypeOf<ApprovalCall<Unchanged>>();
    return 'never';
  },
  execute(input) {
    expectTypeOf(input).toEqualTypeOf<Unchanged>();
    return input;
  },
});

describe('the input of a tool', () => {
  test.each<[string, ToolDefinition, object]>([
    ['zod', withZod, { days: 3 }],
    ['Valibot', withValibot, { days: 3 }],
    ['ArkType', withArkType, { days: 3 }],
    ['TypeBox', withTypeBox, {}],
    ['JSON Schema', withJsonSchema, {}],
  ])('of %s is described, validated and typed by one schema', async (_, tool, defaults) => {
    const runner = runnerOf([tool]);
    const input = { order: 'A-17', wrapping: 'gift' };
    const { content } = await resultOf(runner, call('hold', input));
    expect(typeof content === 'string' && JSON.parse(content)).toEqual({ ...input, ...defaults });
    const refused = await resultOf(runner, call('hold', { order: 'A-17', wrapping: 'none' }));
    expect(refused).toMatchObject({ is_error: true, content: expect.stringContaining('/wrapping') });
  });

  test('is typed in a list of tools, and a list of tools is a config', () => {
    const config = defineConfig({
      tools: [
        withZod,
        withTypeBox,
        withJsonSchema,
        {
          ...base,
          input: type({ order: 'string' }),
          execute(input) {
            expectTypeOf(input).toEqualTypeOf<{ order: string }>();
            return input.order;
          },
        },
        {
          ...base,
          input_schema: Type.Object({ order: Type.String() }),
          execute(input) {
            expectTypeOf(input).toEqualTypeOf<{ order: string }>();
            return input.order;
          },
        },
        {
          ...base,
          input_schema: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
          approval: ({ input }) => {
            expectTypeOf(input).toEqualTypeOf<{ order: string }>();
            return 'never';
          },
          execute(input) {
            expectTypeOf(input).toEqualTypeOf<{ order: string }>();
            return input.order;
          },
        },
      ],
    });
    expectTypeOf(config).toExtend<OperatorConfig>();
    const shared = [withZod, withValibot, withArkType, withTypeBox, withJsonSchema];
    expectTypeOf(defineConfig({ tools: [...shared] })).toExtend<OperatorConfig>();
    expectTypeOf(defineConfig({ tools: shared })).toExtend<OperatorConfig>();
    expectTypeOf(shared).toExtend<ToolDefinition[]>();
  });
});

/** The type that is inferred from a JSON Schema. */
function inferred<const Schema extends object>(schema: Schema) {
  const tool = defineTool({ ...base, input_schema: schema, execute: () => '' });
  return (): Parameters<typeof tool.execute>[0] => {
    throw new Error('Only its type is used.');
  };
}

describe('the type of a JSON Schema', () => {
  test('is that of the values which it describes', () => {
    const everything = inferred({
      type: 'object',
      properties: {
        text: { type: 'string', minLength: 1 },
        count: { type: 'integer' },
        flag: { type: 'boolean' },
        nothing: { type: 'null' },
        either: { type: ['string', 'null'] },
        fixed: { const: 7 },
        choice: { enum: ['a', 2, null] },
        list: { type: 'array', items: { type: 'number' } },
        nested: { type: 'object', properties: { a: { type: 'string' }, b: {} }, required: ['a'] },
        some: { anyOf: [{ type: 'string' }, { type: 'number' }] },
        counts: { type: 'object', additionalProperties: { type: 'number' } },
        free: { type: 'object' },
        anything: {},
        items: { type: 'array' },
      },
      required: [
        'text',
        'count',
        'flag',
        'nothing',
        'either',
        'fixed',
        'choice',
        'list',
        'nested',
        'some',
        'counts',
        'free',
        'anything',
        'items',
      ],
      additionalProperties: false,
    });
    expectTypeOf(everything).returns.toEqualTypeOf<{
      text: string;
      count: number;
      flag: boolean;
      nothing: null;
      either: string | null;
      fixed: 7;
      choice: 'a' | 2 | null;
      list: number[];
      nested: { a: string; b?: Json };
      some: string | number;
      counts: { [name: string]: number };
      free: JsonObject;
      anything: Json;
      items: Json;
    }>();
  });

  test('is a JSON object where nothing is known of it', () => {
    const apart = { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] };
    const schema: object = apart;
    expectTypeOf(inferred({ type: 'object' })).returns.toEqualTypeOf<JsonObject>();
    expectTypeOf(inferred(apart)).returns.toEqualTypeOf<JsonObject>();
    expectTypeOf(inferred(schema)).returns.toEqualTypeOf<JsonObject>();
    expectTypeOf(inferred(Type.Object({}))).returns.toEqualTypeOf<JsonObject>();
    const constant = { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] } as const;
    expectTypeOf(inferred(constant)).returns.toEqualTypeOf<{ order: string }>();
  });

  test('may be annotated where it is not known, and must match where it is', () => {
    const apart = { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] };
    const annotated = defineTool({ ...base, input_schema: apart, execute: ({ order }: { order: string }) => order });
    const literal = { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] } as const;
    defineTool({
      ...base,
      input_schema: literal,
      // @ts-expect-error: the order is text
      execute: ({ order }: { order: number }) => order,
    });
    // @ts-expect-error: there is no amount
    defineTool({ ...base, input_schema: literal, execute: ({ amount }) => amount });
    // @ts-expect-error: a text has no toFixed
    defineTool({ ...base, input_schema: literal, execute: ({ order }) => order.toFixed() });
    // @ts-expect-error: Valibot alone has no JSON Schema
    const alone = (): unknown => defineTool({ ...base, input: v.object({ order: v.string() }), execute: () => '' });
    expect(annotated.name).toBe('hold');
    expect(alone).toBeTypeOf('function');
  });
});

test('a tool returns any JSON value, a reply, and nothing else', () => {
  const returns = <Value extends ToolReturn>(value: Value): Value => value;
  const values = ['text', 3, true, null, [1, { a: null }], { content: 'x' }, { rows: [] }].map((one) => returns(one));
  // @ts-expect-error: undefined is no JSON value
  const refused = [() => returns(undefined), () => returns(3n)];
  expect(values).toHaveLength(7);
  expect(refused).toHaveLength(2);
});

test('the context tells for whom a tool runs', () => {
  expectTypeOf<{ [Name in keyof ToolContext]: ToolContext[Name] }>().toEqualTypeOf<{
    tenant: string;
    user: string | null;
    metadata: JsonObject;
    worker: { id: string; name: string; role: string | null };
    attempt: number;
    tool_call_id: string;
    job_id: string;
    worker_id: string;
    context_id: string;
    signal: AbortSignal;
    idempotency_key: string;
    traceparent: string | null;
    log: CallLog;
    progress: (report: string | ToolProgress) => void;
    step: RunStep;
    spawn: SpawnWorker;
    enqueue: EnqueueInput;
  }>();
  expectTypeOf<keyof ApprovalCall>().toEqualTypeOf<
    | Exclude<
        keyof ToolContext,
        'signal' | 'idempotency_key' | 'traceparent' | 'log' | 'progress' | 'step' | 'spawn' | 'enqueue'
      >
    | 'name'
    | 'input'
  >();
  expectTypeOf<keyof UnknownCall<unknown>>().toEqualTypeOf<
    Exclude<keyof ToolContext, 'log' | 'progress' | 'step' | 'spawn' | 'enqueue'> | 'input'
  >();
});

test('an error for the model has a code, if it is given one', () => {
  expectTypeOf<ConstructorParameters<typeof ToolError>>().toEqualTypeOf<
    [message: string, options?: ToolErrorOptions | undefined]
  >();
  expect(new ToolError('closed', { code: 'closed' })).toMatchObject({ name: 'ToolError', code: 'closed' });
  expect(new ToolError('closed').code).toBeUndefined();
  expect(new ToolError('closed', { cause: 1 }).cause).toBe(1);
  expect('cause' in new ToolError('closed')).toBe(false);
});

test('a tool of any library is one of the standard', () => {
  expectTypeOf<typeof withZod>().toExtend<SchemaTool<StandardSchema>>();
  expectTypeOf<typeof withArkType>().toExtend<SchemaTool<StandardSchema>>();
  expectTypeOf<typeof withValibot>().toExtend<SchemaTool<StandardSchema>>();
});
