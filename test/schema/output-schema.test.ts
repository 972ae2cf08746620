// Schemas of structured answers come from clients: whatever they are, a check ends soon and says what is wrong.
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test, vi } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { parseOutput } from '../../src/core/run/output.ts';
import { checkOutput, outputSchemaFaults } from '../../src/schema/output-schema.ts';

const AGE = { type: 'object', properties: { age: { type: 'integer' } }, required: ['age'] };

function problems(schema: JsonObject, text: string): string[] {
  const checked = checkOutput(schema, text);
  return checked.ok ? [] : checked.problems;
}

describe('the text of an answer', () => {
  test.each([
    ['{"age": 3}', { age: 3 }],
    ['  [1, 2]\n', [1, 2]],
    ['```json\n{"age": 3}\n```', { age: 3 }],
    ['\n```JSON\r\n{"age": 3}\r\n```\n', { age: 3 }],
    ['```\n"text"\n```', 'text'],
    ['null', null],
    ['Sure: {"age": 3}', undefined],
    ['```json\n{"age": 3}\n```\nThat is it.', undefined],
    ['```json\n1\n```\n```json\n2\n```', undefined],
    ['```yaml\n1\n```', undefined],
    ['', undefined],
  ])('%j', (text, value) => {
    expect(parseOutput(text)).toEqual(value);
  });
});

describe('problems', () => {
  test('name the place and what the schema wants', () => {
    expect(checkOutput(AGE, '{"age": 3}')).toEqual({ ok: true });
    expect(problems(AGE, '{}')).toEqual(["the answer must have required property 'age' (schema: #/required)"]);
    expect(problems(AGE, '{"age": "x"}')).toEqual(['/age must be integer (schema: #/properties/age/type)']);
    expect(problems(AGE, ' ')).toEqual(['the answer is not JSON, or not only JSON: it has no text']);
    expect(problems(AGE, 'x'.repeat(100))[0]).toMatch(/begins with "x{60}…"$/);
  });

  test('are limited in number and length', () => {
    const schema = { type: 'array', items: { enum: ['x'.repeat(1_000)] } };
    const found = problems(schema, JSON.stringify(Array.from({ length: 50 }, () => 1)));
    expect(found).toHaveLength(21);
    expect(found.at(-1)).toBe('and 30 more');
    expect(Math.max(...found.map(({ length }) => length))).toBeLessThan(310);
  });

  test('are not cut inside of a surrogate pair', () => {
    expect(problems(AGE, `x${'😀'.repeat(40)}`)[0]).toMatch(/begins with "x(?:😀){29}…"$/u);
    const enums = Array.from({ length: 20 }, (_, index) => ({ enum: [`${'x'.repeat(index)}${'😀'.repeat(300)}`] }));
    const found = problems({ allOf: enums }, '1');
    expect(found.filter((problem) => !problem.isWellFormed())).toEqual([]);
  });

  test('are told of an answer that is nested too deeply', () => {
    expect(problems({}, `${'['.repeat(200)}${']'.repeat(200)}`)).toEqual([
      'the answer is nested deeper than 100 levels',
    ]);
  });

  test('a draft is that of $schema, or the one that fits', () => {
    const items = [{ type: 'string' }];
    expect(problems({ items }, '[1]')).toEqual(['/0 must be string (schema: #/items/0/type)']);
    expect(problems({ $schema: 'http://json-schema.org/draft-07/schema#', items }, '[1]')).toHaveLength(1);
    expect(problems({ prefixItems: items }, '[1]')).toHaveLength(1);
  });
});

describe('a schema of a client is refused', () => {
  const faults = (schema: JsonObject) => outputSchemaFaults(schema, ['output_schema']).map(({ message }) => message);

  test.each([
    [{ type: 'strng' }, 'is not a valid JSON Schema (draft 2020-12 or 7)'],
    [{ $schema: 'https://json-schema.org/draft/2019-09/schema' }, 'is not a valid JSON Schema (draft 2020-12 or 7)'],
    [{ $ref: '#/$defs/none' }, "cannot be compiled: can't resolve reference #/$defs/none from id #"],
    [{ $ref: 'https://example.com/x' }, "cannot be compiled: can't resolve reference https://example.com/x from id #"],
    [{ $async: true }, 'has $async, which is not a keyword of JSON Schema'],
    [{ description: 'x'.repeat(33_000) }, 'is larger than 32 KB of JSON'],
  ])('%o', (schema, problem) => {
    expect(faults(schema)).toEqual([`output_schema: ${problem}.`]);
  });

  test('if it is nested too deeply', () => {
    let schema: JsonObject = { type: 'string' };
    for (let depth = 0; depth < 60; depth += 1) schema = { type: 'object', properties: { a: schema } };
    expect(faults(schema)).toEqual(['output_schema: is nested deeper than 100 levels.']);
  });

  test('false and no schema are fine, and so is any type', () => {
    expect(outputSchemaFaults(false, [])).toEqual([]);
    expect(outputSchemaFaults(undefined, [])).toEqual([]);
    for (const schema of [{}, { type: 'string' }, { type: 'array' }, { $id: 'a', type: 'null' }, { $id: 'a' }])
      expect(faults(schema)).toEqual([]);
  });
});

const TOO_LONG = { ok: false, isChecked: false, problems: ['the check took longer than 100 ms'] };

describe('a check ends although', () => {
  test('a pattern backtracks', () => {
    const found = checkOutput({ type: 'string', pattern: '^(a+)+$' }, JSON.stringify(`${'a'.repeat(50)}!`));
    expect(found).toEqual(TOO_LONG);
    expect(checkOutput(AGE, '{"age": 3}')).toEqual({ ok: true });
  });

  test('references double at each level', () => {
    const level = (next: number) => ({ allOf: [{ $ref: `#/$defs/a${next}` }, { $ref: `#/$defs/a${next}` }] });
    const levels = Array.from({ length: 40 }, (_, index) => [`a${index}`, level(index + 1)] as const);
    const $defs = { ...Object.fromEntries(levels), a40: { type: 'string' } };
    expect(checkOutput({ $defs, $ref: '#/$defs/a0' }, '"x"')).toEqual(TOO_LONG);
  });

  test('it finds very many faults', () => {
    const schema = { items: { allOf: Array.from({ length: 200 }, () => false) } };
    const found = checkOutput(schema, JSON.stringify(Array.from({ length: 50_000 }, () => 1)));
    expect(found).toEqual(TOO_LONG);
  });

  test('a schema refers to itself', () => {
    expect(checkOutput({ $ref: '#' }, '1')).toEqual({
      ok: false,
      isChecked: false,
      problems: ['Maximum call stack size exceeded'],
    });
  });
});

describe('compiling', () => {
  const part = {
    type: 'object',
    properties: Object.fromEntries(names(60, 'q').map((name) => [name, { minLength: 1 }])),
  };
  const refs = Object.fromEntries(names(60, 'p').map((name) => [name, { $ref: '#/$defs/part' }]));

  test('does not copy a part to each place that refers to it', () => {
    const compile = vi.spyOn(Ajv2020.prototype, 'compile');
    expect(outputSchemaFaults({ properties: refs, $defs: { part } }, [])).toEqual([]);
    const [compiled] = compile.mock.results;
    expect(String(compiled?.value).length).toBeLessThan(50_000);
    compile.mockRestore();
  });

  test('a schema that took too long is compiled once, and again at the next check', () => {
    const compile = vi.spyOn(Ajv2020.prototype, 'compile').mockImplementation(() => {
      for (;;);
    });
    const older = vi.spyOn(Ajv.prototype, 'compile');
    const schema = { type: 'string', title: 'Slow once' };
    expect(outputSchemaFaults(schema, ['output_schema']).map(({ message }) => message)).toEqual([
      'output_schema: takes longer than 250 ms to compile.',
    ]);
    expect(older).not.toHaveBeenCalled();
    compile.mockRestore();
    expect(checkOutput(schema, '"x"')).toEqual({ ok: true });
    older.mockRestore();
  });
});

function names(count: number, prefix: string): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`);
}
