import { expect, test } from 'vitest';
import { keyId } from '../../src/llm/key-id.ts';

const KEY = 'sk-ant-very-secret';

test('the id of a key depends on provider, address and key, and does not contain the key', () => {
  const ids = [
    keyId('anthropic', null, KEY),
    keyId('anthropic', null, `${KEY}2`),
    keyId('openai', null, KEY),
    keyId('anthropic', 'http://127.0.0.1:8080/v1', KEY),
    keyId('anthropic', 'http://me:hush@127.0.0.1:8080/v1?token=hush', KEY),
  ];
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.join(' ')).not.toMatch(/secret|hush|sk-/);
  expect(ids[0]).toMatch(/^anthropic@default#[0-9a-f]{16}$/);
  expect(ids[3]).toMatch(/^anthropic@127\.0\.0\.1:8080\/v1#/);
  expect(keyId('anthropic', null, KEY)).toBe(ids[0]);
});
