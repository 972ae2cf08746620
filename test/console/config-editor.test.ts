// The config editor without a browser: what is sent for what was changed.
import { describe, expect, test } from 'vitest';
import { readChanges, withPatch } from '../../web/src/config-editor/changes.ts';
import { toConfigDraft, type ConfigDraft } from '../../web/src/config-editor/draft.ts';

const CONFIG = {
  model: 'simulated/a',
  streaming: false,
  approval: [],
  max_tokens: 9,
  parameters: { top_k: 1 },
};

function change(changed: Partial<ConfigDraft>) {
  const base = toConfigDraft(CONFIG);
  return readChanges(base, { ...base, ...changed });
}

describe('a changed config', () => {
  test('sends changed fields alone, with null for an emptied one', () => {
    expect(change({})).toEqual({ patch: {}, faults: {} });
    const changed = {
      model: ' simulated/b ',
      streaming: '',
      max_tokens: ' ',
      tools: ['look_up'],
      limits: '{}',
    };
    expect(change(changed).patch).toEqual({
      model: 'simulated/b',
      streaming: null,
      max_tokens: null,
      tools: ['look_up'],
      limits: {},
    });
  });

  test('sends an empty list and an empty system prompt as values of their own, and null for what is not set', () => {
    expect(change({ tools: [], system_prompt: '', pinned: [] }).patch).toEqual({
      tools: [],
      system_prompt: '',
      pinned: [],
    });
    expect(change({ approval: null, parameters: null }).patch).toEqual({ approval: null, parameters: null });
    expect(change({ tools: null }).patch).toEqual({});
  });

  test('is none where a field without an own value is left empty', () => {
    expect(change({ max_steps: '', idle_timeout_s: ' ', output_schema: '', mode: '' }).patch).toEqual({});
  });

  test('keeps the fields of a role that were not changed, empty lists too', () => {
    expect(withPatch(CONFIG, { streaming: null, max_tokens: 10 })).toEqual({
      model: 'simulated/a',
      approval: [],
      max_tokens: 10,
      parameters: { top_k: 1 },
    });
  });

  test.each([
    [{ max_steps: '1.5' }, 'Enter a whole number above 0.'],
    [{ idle_timeout_s: '0' }, 'Enter a whole number above 0.'],
    [{ parameters: '[]' }, 'Enter a JSON object.'],
    [{ compaction: 'llm' }, 'Enter a JSON object.'],
    [{ client_tools: '{}' }, 'Enter a JSON array.'],
  ])('is not sent with a value that cannot be read: %j', (wrong: Partial<ConfigDraft>, message) => {
    expect(change({ ...wrong, model: 'simulated/b' })).toEqual({
      patch: null,
      faults: { [Object.keys(wrong).join()]: message },
    });
  });
});
