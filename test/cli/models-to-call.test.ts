// Which models `doctor --call` calls: one of each provider.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { modelsToCall } from '../../src/cli/doctor/models.ts';
import { parseEnvironment } from '../../src/config/config.ts';

function called(env: Record<string, string>): string[] {
  return modelsToCall(parseEnvironment(env));
}

test('the default model is the only one of its provider that is called', () => {
  const both = { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'b' };
  expect(called({ ...both, NIGHTSHIFT_DEFAULT_MODEL: 'openai-chat/local' })).toEqual([
    'openai-chat/local',
    'anthropic/claude-sonnet-5-5',
  ]);
  expect(called({ ANTHROPIC_API_KEY: 'a', NIGHTSHIFT_DEFAULT_MODEL: 'anthropic/claude-haiku-4-5' })).toEqual([
    'anthropic/claude-haiku-4-5',
  ]);
  expect(called(both)).toEqual(['anthropic/claude-sonnet-5-5', 'openai/gpt-5']);
  expect(called({})).toEqual([]);
});

test('the SDK of Anthropic does not say that the default model will end', () => {
  const file = path.join(import.meta.dirname, '../../node_modules/@anthropic-ai/sdk/resources/messages/messages.js');
  const [, deprecated = ''] = /const DEPRECATED_MODELS = \{([^}]*)\}/.exec(readFileSync(file, 'utf8')) ?? [];
  expect(deprecated).toContain('claude-');
  const [model = ''] = called({ ANTHROPIC_API_KEY: 'a' });
  expect(deprecated).not.toContain(`'${model.replace('anthropic/', '')}'`);
});
