/** The types of a tool package that the type checker must accept and refuse; `tsc` checks this, vitest only loads it. */
import { Type } from 'typebox';
import * as v from 'valibot';
import { expect, expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import { defineConfig, defineTool, defineToolPackage, env, type OperatorConfig } from '../../../src/index.ts';
import { parseConfigFile } from '../../../src/tools/config/parse-config.ts';
import { PLACEHOLDERS } from '../../../src/tools/packages/secrets.ts';

const named = (name: string) =>
  defineTool({ name, description: 'A.', effect: 'none', input_schema: { type: 'object' }, execute: () => '' });

const weather = defineToolPackage({
  name: 'weather',
  config: z.object({ units: z.enum(['metric', 'imperial']).default('metric'), days: z.string().transform(Number) }),
  secrets: ['API_KEY', 'PROXY'],
  tools: ({ config, secrets, prefix }) => {
    expectTypeOf(config).toEqualTypeOf<{ units: 'metric' | 'imperial'; days: number }>();
    expectTypeOf(secrets).toEqualTypeOf<{ readonly API_KEY: string; readonly PROXY: string }>();
    expectTypeOf(prefix).toEqualTypeOf<string>();
    return [named('weather')];
  },
});

const defaults = defineToolPackage({
  name: 'defaults',
  config: v.object({ size: v.optional(v.number(), 3) }),
  tools: ({ config, secrets }) => {
    expectTypeOf(config).toEqualTypeOf<{ size: number }>();
    expectTypeOf<keyof typeof secrets>().toEqualTypeOf<never>();
    return [named('defaults')];
  },
});

const box = defineToolPackage({
  name: 'box',
  config_schema: Type.Object({ url: Type.String(), tags: Type.Optional(Type.Array(Type.String())) }),
  tools: ({ config }) => {
    expectTypeOf(config.url).toEqualTypeOf<string>();
    return [named('box')];
  },
});

const optional = defineToolPackage({
  name: 'optional',
  config: z.object({ url: z.string() }).optional(),
  tools: ({ config }) => {
    expectTypeOf(config).toEqualTypeOf<{ url: string } | undefined>();
    return [named('optional')];
  },
});

const whole = defineToolPackage({
  name: 'whole',
  config: z.object({ url: z.string() }).default({ url: 'https://a.example' }),
  tools: ({ config }) => {
    expectTypeOf(config).toEqualTypeOf<{ url: string }>();
    return [named('whole')];
  },
});

const plain = defineToolPackage({ name: 'plain', tools: () => [named('plain'), named('other')] });

test('a package in a list keeps the types of the tools beside it', () => {
  const config = defineConfig({
    tools: [
      weather({ config: { days: '3' }, prefix: 'weather_', secrets: { API_KEY: env('KEY'), PROXY: 'a proxy' } }),
      {
        name: 'own',
        description: 'O.',
        effect: 'none',
        input: z.object({ n: z.number() }),
        execute: ({ n }) => n satisfies number,
      },
      defaults(),
      box({ config: { url: 'https://a.example' } }),
      optional(),
      optional({ prefix: 'given_', config: { url: 'https://a.example' } }),
      whole(),
      whole({ prefix: 'given_', config: { url: 'https://b.example' } }),
      plain({ prefix: 'plain_' }),
    ],
  });
  expectTypeOf(config).toExtend<OperatorConfig>();
  const parsed = parseConfigFile(config, PLACEHOLDERS);
  const names = parsed.ok ? parsed.settings.tools.map(({ descriptor }) => descriptor.name) : parsed.faults;
  expect(names).toEqual([
    'weather_weather',
    'own',
    'defaults',
    'box',
    'optional',
    'given_optional',
    'whole',
    'given_whole',
    'plain_plain',
    'plain_other',
  ]);
});

test('type errors are reported', () => {
  const refused = [
    // @ts-expect-error: the config has a member without a default
    weather(),
    // @ts-expect-error: the config is missing
    weather({ prefix: 'a_' }),
    // @ts-expect-error: not one of the units
    weather({ config: { days: '3', units: 'other' } }),
    // @ts-expect-error: an unknown secret
    weather({ config: { days: '3' }, secrets: { KEY: 'a' } }),
    // @ts-expect-error: not a text
    weather({ config: { days: '3' }, secrets: { API_KEY: 3 } }),
    // @ts-expect-error: it has another config
    optional({ config: { url: 3 } }),
    // @ts-expect-error: it has no config
    plain({ config: {} }),
    // @ts-expect-error: it has no secrets
    plain({ secrets: { KEY: 'a' } }),
    // @ts-expect-error: an unknown option
    plain({ suffix: 'a' }),
    // @ts-expect-error: no list
    defineToolPackage({ name: 'a', tools: () => named('a') }),
    // @ts-expect-error: no tools
    defineToolPackage({ name: 'a' }),
  ];
  expect(refused).toHaveLength(11);
});
