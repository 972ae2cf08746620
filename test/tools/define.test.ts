/** The types of a config file that the type checker must accept and refuse; `tsc` checks this, vitest only loads it. */
import { pino } from 'pino';
import type { Static } from 'typebox';
import { describe, expect, expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import {
  defineConfig,
  defineTool,
  type Json,
  type LimitDefinitions,
  type OperatorConfig,
  type PriceDefinition,
  type RoleDefinition,
  type ToolDefinition,
} from '../../src/index.ts';
import type { ToolLog } from '../../src/tools/run/tool-log.ts';
import { parseConfigFile, type ConfigSchema } from '../../src/tools/config/parse-config.ts';
import { PLACEHOLDERS } from '../../src/tools/packages/secrets.ts';

const base = { name: 'a', description: 'A.', effect: 'none' } as const;

describe('typing a config file', () => {
  test('each tool in a list knows its input by its own schema', () => {
    const apart = defineTool({
      ...base,
      name: 'apart',
      input: z.object({ x: z.string() }),
      execute: ({ x }) => x,
    });
    const plain = defineTool({ ...base, name: 'plain', input_schema: { type: 'object' }, execute: () => '' });
    const config = defineConfig({
      tools: [
        {
          name: 'zod',
          description: 'Z.',
          effect: 'idempotent',
          input: z.object({ n: z.number(), s: z.string().default('x') }),
          async execute(input, { signal, progress }) {
            expectTypeOf(input).toEqualTypeOf<{ n: number; s: string }>();
            expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
            progress('half');
            return { content: [{ type: 'text', text: input.s }], compact_summary: 'short' };
          },
        },
        {
          name: 'json',
          description: 'J.',
          effect: 'once',
          input_schema: { type: 'object' },
          execute(input) {
            expectTypeOf(input).toEqualTypeOf<{ [key: string]: Json }>();
            return '';
          },
        },
        {
          name: 'annotated',
          description: 'N.',
          effect: 'none',
          input_schema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
          execute: (input: { path: string }) => input.path,
        },
        apart,
        plain,
      ],
      roles: { coder: { model: 'simulated/x', tools: ['zod'] } },
      limits: { max_steps: 5 },
    });
    expectTypeOf(config).toExtend<OperatorConfig>();
    expect(parseConfigFile(config, PLACEHOLDERS)).toMatchObject({ ok: true });
    const data = [() => 3, () => ({ found: [1, null] }), async () => [true], () => null];
    for (const execute of data)
      expectTypeOf(defineConfig({ tools: [{ ...base, input: z.object({}), execute }] })).toExtend<OperatorConfig>();
    const list: ToolDefinition[] = [apart, plain];
    expect(parseConfigFile(defineConfig({ tools: list }), PLACEHOLDERS)).toMatchObject({ ok: true });
    expect(parseConfigFile(defineConfig({}), PLACEHOLDERS)).toMatchObject({ ok: true });
  });

  test('type errors are reported', () => {
    const input = z.object({ n: z.number() });
    const refused = [
      // @ts-expect-error: not an effect
      defineConfig({ tools: [{ ...base, effect: 'maybe', input, execute: () => '' }] }),
      // @ts-expect-error: an unknown member
      defineConfig({ tools: [{ ...base, input, timeout: 5, execute: () => '' }] }),
      // @ts-expect-error: no schema at all
      defineConfig({ tools: [{ ...base, execute: () => '' }] }),
      // @ts-expect-error: two schemas
      defineConfig({ tools: [{ ...base, input, input_schema: {}, execute: () => '' }] }),
      // @ts-expect-error: no schema of the standard
      defineConfig({ tools: [{ ...base, input: 3, execute: () => '' }] }),
      // @ts-expect-error: nothing that JSON can hold
      defineConfig({ tools: [{ ...base, input, execute: () => undefined }] }),
      // @ts-expect-error: no decision
      defineConfig({ tools: [{ ...base, input, approval: 'maybe', execute: () => '' }] }),
      // @ts-expect-error: a number is no string
      defineConfig({ tools: [{ ...base, input, execute: ({ n }) => n.toUpperCase() }] }),
      // @ts-expect-error: neither a command nor a url
      defineConfig({ mcp_servers: { files: {} } }),
      // @ts-expect-error: an unknown limit
      defineConfig({ limits: { failed_claims: 5 } }),
    ];
    expect(refused).toHaveLength(10);
  });

  test('the types have the keys that the file may have', () => {
    type Keys<T> = T extends unknown ? keyof T : never;
    type Config = Static<typeof ConfigSchema>;
    type One<T> = T extends { [name: string]: infer Member } ? Member : never;
    expectTypeOf<keyof OperatorConfig>().toEqualTypeOf<keyof Config>();
    expectTypeOf<Keys<ToolDefinition>>().toEqualTypeOf<keyof NonNullable<Config['tools']>[number]>();
    expectTypeOf<keyof RoleDefinition>().toEqualTypeOf<keyof One<NonNullable<Config['roles']>>>();
    expectTypeOf<keyof LimitDefinitions>().toEqualTypeOf<keyof NonNullable<Config['limits']>>();
    expectTypeOf<keyof PriceDefinition>().toEqualTypeOf<keyof One<NonNullable<Config['prices']>>>();
    expectTypeOf<keyof NonNullable<OperatorConfig['oidc']>>().toEqualTypeOf<keyof NonNullable<Config['oidc']>>();
    expectTypeOf<Keys<One<NonNullable<OperatorConfig['mcp_servers']>>>>().toEqualTypeOf<
      keyof One<NonNullable<Config['mcp_servers']>>
    >();
  });

  test('a logger of pino is a log', () => {
    expectTypeOf(pino({ enabled: false })).toExtend<ToolLog>();
  });
});
