// Prices in the config file: the accepted ones, and the message for every invalid one.
import { expect, test } from 'vitest';
import { defineConfig } from '../../src/index.ts';
import { parseConfigFile } from '../../src/tools/config/parse-config.ts';
import { PLACEHOLDERS } from '../../src/tools/packages/secrets.ts';

const sound = { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 };

function faultsOf(prices: unknown): string[] {
  const parsed = parseConfigFile({ prices }, PLACEHOLDERS);
  return parsed.ok ? [] : parsed.faults;
}

test('are read by model, in trillionths of a dollar per token', () => {
  const written = defineConfig({
    prices: {
      'anthropic/claude-sonnet-4-5': sound,
      'openai-chat/some/model:free': { input: 0, output: 0, cache_read: 0, cache_write: 0 },
      'simulated/clerk': { input: 0.000001, output: 1_000, cache_read: 0, cache_write: 0 },
    },
  });
  const parsed = parseConfigFile(written, PLACEHOLDERS);
  if (!parsed.ok) throw new Error(parsed.faults.join('\n'));
  expect([...parsed.settings.prices]).toEqual([
    [
      'anthropic/claude-sonnet-4-5',
      { input: 3_000_000, output: 15_000_000, cacheRead: 300_000, cacheWrite: 3_750_000 },
    ],
    ['openai-chat/some/model:free', { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }],
    ['simulated/clerk', { input: 1, output: 1_000_000_000, cacheRead: 0, cacheWrite: 0 }],
  ]);
});

test('are absent where none are written: there are no built-in prices', () => {
  for (const config of [{}, { prices: {} }, { prices: undefined }])
    expect(parseConfigFile(config, PLACEHOLDERS)).toMatchObject({ ok: true, settings: { prices: new Map() } });
});

test('are of models as configs name them', () => {
  expect(faultsOf({ 'claude-sonnet-4-5': sound, 'acme/large': sound, 'openai/': sound })).toEqual(
    ['claude-sonnet-4-5', 'acme/large', 'openai/'].map(
      (name) =>
        `prices${name.includes('/') ? `["${name}"]` : `.${name}`}: the name must be provider/model, with one of the providers anthropic, openai, openai-chat, simulated.`,
    ),
  );
});

test('have all four kinds, and nothing else', () => {
  expect(faultsOf({ 'openai/gpt-5': { input: 1, output: 2 } })).toEqual([
    'prices["openai/gpt-5"].cache_read: is missing.',
    'prices["openai/gpt-5"].cache_write: is missing.',
  ]);
  expect(faultsOf({ 'openai/gpt-5': { ...sound, per_request: 1 } })).toEqual([
    'Unknown field `prices["openai/gpt-5"].per_request`. Known fields: input, output, cache_read, cache_write.',
  ]);
  const wrongs: [unknown, string][] = [
    [3, 'a number'],
    ['3', 'a string'],
    [null, 'null'],
    [[sound], 'a list'],
  ];
  for (const [wrong, told] of wrongs)
    expect(faultsOf({ 'openai/gpt-5': wrong })).toEqual([`prices["openai/gpt-5"]: must be an object, not ${told}.`]);
  expect(faultsOf([])).toEqual(['prices: must be an object, not a list.']);
});

test('are numbers in the range of a price', () => {
  for (const wrong of [-1, NaN, Infinity, 1e-7, 0.1234567, 1_000.1, '3', null, true])
    expect(faultsOf({ 'openai/gpt-5': { ...sound, output: wrong } })).toEqual([
      `prices["openai/gpt-5"].output: must be US dollars per million tokens: a number from 0 to 1000 with at most six decimals, not ${typeof wrong === 'string' ? '"3"' : String(wrong)}.`,
    ]);
});
