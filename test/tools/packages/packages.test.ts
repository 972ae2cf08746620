// Tool packages in a config file: their tools, and the faults of a package or a use of it.
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { defineTool, defineToolPackage, env, type JsonSchemaTool } from '../../../src/index.ts';
import { parseConfigFile } from '../../../src/tools/config/parse-config.ts';
import { fromEnvironment, PLACEHOLDERS, type SecretSource } from '../../../src/tools/packages/secrets.ts';
import { call } from '../invoke.ts';

const KEY = 'key-of-the-weather';

const toolNamed = (name: string): JsonSchemaTool<{ type: 'object' }> =>
  defineTool({ name, description: 'A.', effect: 'none', input_schema: { type: 'object' }, execute: () => name });

const weather = defineToolPackage({
  name: 'weather',
  config: z.object({ units: z.enum(['metric', 'imperial']).default('metric') }),
  secrets: ['WEATHER_API_KEY'],
  tools: ({ config, secrets, prefix }) => [
    defineTool({
      name: 'now',
      description: `For the days to come use ${prefix}forecast.`,
      effect: 'none',
      input_schema: { type: 'object' },
      execute: () => ({ units: config.units, length: secrets.WEATHER_API_KEY.length }),
    }),
    toolNamed('forecast'),
  ],
});

const SET = fromEnvironment({ WEATHER_API_KEY: KEY, OTHER_KEY: 'another-key', EMPTY: '', SHORT: 'abc' });

const faultsOf = (tools: unknown[], source: SecretSource = SET, more: object = {}): string[] => {
  const parsed = parseConfigFile({ tools, ...more }, source);
  return parsed.ok ? [] : parsed.faults;
};

function toolsOf(tools: unknown[], source: SecretSource = SET) {
  const parsed = parseConfigFile({ tools }, source);
  if (!parsed.ok) throw new Error(parsed.faults.join(' '));
  return parsed.settings.tools;
}

test('the tools of a package stand in its place, with its prefix, its config and its secrets', async () => {
  const tools = toolsOf([toolNamed('first'), weather({ prefix: 'weather_' }), toolNamed('last')]);
  expect(tools.map(({ descriptor }) => descriptor.name)).toEqual(['first', 'weather_now', 'weather_forecast', 'last']);
  expect(tools[1]?.descriptor.description).toBe('For the days to come use weather_forecast.');
  const context = { signal: new AbortController().signal } as never;
  expect(await tools[1]?.execute({}, context, call('weather_now', {}))).toEqual({
    units: 'metric',
    length: KEY.length,
  });
});

test('a package may be used twice, each with its own secret', async () => {
  const north = weather({ prefix: 'north_', config: { units: 'imperial' } });
  const south = weather({ prefix: 'south_', secrets: { WEATHER_API_KEY: env('OTHER_KEY') } });
  const [first, , third] = toolsOf([north, south]);
  const context = { signal: new AbortController().signal } as never;
  expect(await first?.execute({}, context, call('north_now', {}))).toEqual({ units: 'imperial', length: KEY.length });
  expect(await third?.execute({}, context, call('south_now', {}))).toEqual({ units: 'metric', length: 11 });
});

test('a role may name the tools of a package', () => {
  const more = { roles: { guide: { tools: ['weather_now'] }, lost: { tools: ['now'] } } };
  expect(faultsOf([weather({ prefix: 'weather_' })], SET, more)).toEqual([
    expect.stringContaining('roles.lost.tools[0]: no tool has the name "now".'),
  ]);
});

test.each<[string, unknown, string]>([
  [
    'the variable of the secret is not set',
    weather({ secrets: { WEATHER_API_KEY: env('NOT_SET') } }),
    'tools[0] (package weather): secrets.WEATHER_API_KEY: is missing. Set the environment variable NOT_SET.',
  ],
  [
    'the variable of the secret is empty',
    weather({ secrets: { WEATHER_API_KEY: env('EMPTY') } }),
    'tools[0] (package weather): secrets.WEATHER_API_KEY: is missing. Set the environment variable EMPTY.',
  ],
  [
    'the value of the secret is undefined',
    weather({ secrets: { WEATHER_API_KEY: undefined } }),
    "tools[0] (package weather): secrets.WEATHER_API_KEY: is missing. Its value is empty; env('NAME') reads an environment variable.",
  ],
  [
    'the secret is too short to be hidden',
    weather({ secrets: { WEATHER_API_KEY: env('SHORT') } }),
    'tools[0] (package weather): secrets.WEATHER_API_KEY: is shorter than 6 characters, so it could not be hidden in results and logs.',
  ],
  [
    'the secret has another name',
    weather({ secrets: { KEY: 'a-secret' } as object }),
    'tools[0] (package weather): secrets.KEY: this package has no such secret. Its secrets: WEATHER_API_KEY.',
  ],
  [
    'the config is wrong',
    weather({ config: { units: 'kelvin' as 'metric' } }),
    'tools[0] (package weather): config.units: Invalid option: expected one of "metric"|"imperial".',
  ],
  [
    'there is no config schema',
    defineToolPackage({ name: 'plain', tools: () => [] })({ config: {} } as object),
    'tools[0] (package plain): config: this package takes no config.',
  ],
  [
    'the config does not match a JSON Schema',
    defineToolPackage({
      name: 'json',
      config_schema: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] },
      tools: () => [],
    })({ config: { url: 3 } as never }),
    'tools[0] (package json): config: /url must be string (schema: #/properties/url/type).',
  ],
  [
    'an option is not known',
    weather({ suffix: 'a' } as object),
    'tools[0] (package weather): Unknown field `suffix`. Known fields: prefix, config, secrets.',
  ],
  [
    'the prefix has other characters',
    weather({ prefix: 'a b' }),
    expect.stringContaining('tools[0] (package weather): prefix: must be'),
  ],
  ['the package was not called', weather, 'tools[0]: is the package weather itself. Call it: weather().'],
  [
    'the package makes no list',
    defineToolPackage({ name: 'later', tools: async () => [] } as never)(),
    'tools[0] (package later): tools: the function of the package must return a list of tools, and not a promise.',
  ],
  [
    'the package throws',
    defineToolPackage({
      name: 'broken',
      secrets: ['WEATHER_API_KEY'],
      tools: ({ secrets }) => {
        throw new Error(`cannot use ${secrets.WEATHER_API_KEY}`);
      },
    })(),
    'tools[0] (package broken): tools: the function of the package failed: cannot use [secret WEATHER_API_KEY].',
  ],
  [
    'a tool of the package is wrong',
    defineToolPackage({
      name: 'bad',
      tools: () => [toolNamed('a'), { ...toolNamed('b'), effect: 'maybe' as 'none' }],
    })(),
    'tools[0] (package bad): tools[1].effect: must be none, idempotent or once, not "maybe".',
  ],
  [
    'a description contains the secret',
    defineToolPackage({
      name: 'open',
      secrets: ['WEATHER_API_KEY'],
      tools: ({ secrets }) => [{ ...toolNamed('a'), description: `The key is ${secrets.WEATHER_API_KEY}.` }],
    })(),
    'tools[0] (package open): tools[0]: its description contains the secret WEATHER_API_KEY. Its name, description and input are shown.',
  ],
])('a fault is told at its place, once: %s', (_, used, fault) => {
  expect(faultsOf([used])).toEqual([fault]);
});

test('a secret that is not set names its variable, and how to give it; roles that name its tools are no faults', () => {
  const more = { roles: { guide: { tools: ['now'] } } };
  expect(faultsOf([toolNamed('a'), weather()], fromEnvironment({}), more)).toEqual([
    'tools[1] (package weather): secrets.WEATHER_API_KEY: is missing. Set the environment variable WEATHER_API_KEY, or give it: secrets: { WEATHER_API_KEY: … }.',
  ]);
});

test.each<[string, unknown[], string]>([
  [
    'two packages',
    [weather(), defineToolPackage({ name: 'sky', tools: () => [toolNamed('now')] })()],
    'tools[1] (package sky): tools[0].name: now is also the name of a tool of tools[0] (package weather). Give another prefix.',
  ],
  [
    'a package and an own tool',
    [toolNamed('w_now'), weather({ prefix: 'w_' })],
    'tools[1] (package weather): tools[0].name: w_now is also the name of tools[0]. Give another prefix.',
  ],
  [
    'an own tool and a package',
    [weather({ prefix: 'w_' }), toolNamed('w_now')],
    'tools[1].name: w_now is also the name of a tool of tools[0] (package weather). Give another prefix.',
  ],
  [
    'a built-in tool',
    [defineToolPackage({ name: 'fs', tools: () => [toolNamed('read_file')] })()],
    'tools[0] (package fs): tools[0].name: read_file is also the name of a built-in tool. Give another prefix.',
  ],
])('two tools of one name are refused, and both are named: %s', (_, tools, fault) => {
  expect(faultsOf(tools)).toEqual([fault]);
});

test('a name of a member is no text with a secret', () => {
  const used = defineToolPackage({
    name: 'open',
    secrets: ['WEATHER_API_KEY'],
    tools: ({ secrets: { WEATHER_API_KEY: key } }) => [
      { ...toolNamed('a'), input_schema: { type: 'object', properties: { [key]: { type: 'string' } } } },
      { ...toolNamed('b'), input_schema: { type: 'object', properties: { a: { description: `of ${key}` } } } },
    ],
  });
  expect(faultsOf([used()])).toEqual([
    'tools[0] (package open): tools[1]: its input contains the secret WEATHER_API_KEY. Its name, description and input are shown.',
  ]);
});

test('a package that fails with a placeholder is told to use secrets later', () => {
  const strict = defineToolPackage({
    name: 'strict',
    secrets: ['WEATHER_API_KEY'],
    tools: ({ secrets }) => {
      if (secrets.WEATHER_API_KEY !== KEY) throw new Error('The key has another form.');
      return [toolNamed('a')];
    },
  });
  expect(faultsOf([strict()])).toEqual([]);
  expect(faultsOf([strict()], PLACEHOLDERS)).toEqual([
    'tools[0] (package strict): tools: the function of the package failed: The key has another form. WEATHER_API_KEY is not set here, so its value is a placeholder. Use secrets only when a tool is called.',
  ]);
});

test.each<[string, z.ZodType, unknown, unknown]>([
  ['optional and not given', z.object({ url: z.string() }).optional(), undefined, 'none'],
  ['optional and given', z.object({ url: z.string() }).optional(), { url: 'a' }, { url: 'a' }],
  ['a default and not given', z.object({ url: z.string() }).default({ url: 'b' }), undefined, { url: 'b' }],
  ['defaults of its members', z.object({ url: z.string().default('c') }), undefined, { url: 'c' }],
])('the config of a package may be %s', (_, config, given, expected) => {
  let seen: unknown = null;
  const used = defineToolPackage({
    name: 'open',
    config,
    tools: (parts) => {
      seen = parts.config ?? 'none';
      return [];
    },
  });
  expect(faultsOf([used({ config: given })])).toEqual([]);
  expect(seen).toEqual(expected);
});

test('a process that runs no tools needs no secrets', () => {
  expect(toolsOf([weather()], PLACEHOLDERS)).toHaveLength(2);
});

test('what a package was given is not shown by a log of the config', () => {
  const used = weather({ secrets: { WEATHER_API_KEY: KEY } });
  expect(inspect({ tools: [used] }, { depth: 9, showHidden: true })).not.toContain(KEY);
  expect(JSON.stringify(used)).toBe('{"tool_package":"weather"}');
});
