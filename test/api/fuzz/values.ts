// JSON values for a schema of the document: valid ones, and almost valid ones. They shrink towards small valid values.
import * as fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import type { Schema } from './document.ts';
import { HOSTILE_KEYS, HOSTILE_TEXTS, HOSTILE_VALUES, UNKNOWN_MEMBERS } from './hostile.ts';
import { Reference, kindOf } from './known.ts';

/** `valid`: as the schema says. `hostile`: one value in about 25 is not. */
export type Manner = 'valid' | 'hostile';

/** One value in so many is hostile. */
const RARELY = 25;
/** Below this depth only required members are given. */
const DEEPEST = 6;
/** No request waits for longer than this, in milliseconds. */
const LONGEST_WAIT_MS = 20;
/** Text without NUL and lone surrogates: `plainText` of `src/schema/build.ts`. */
const PLAIN = '^[^\\p{Cs}\\u0000]*$';

/** Rows that are named by a text which is no id. */
const NAMED = ['branch', 'role', 'user', 'tool', 'tenant', 'provider', 'cursor', 'key', 'worker', 'context', 'job'];

/** Valid texts of members whose schema does not tell them. */
const USUAL: Readonly<Record<string, readonly string[]>> = {
  model: ['simulated/default', 'simulated/other', 'openai/x'],
  cron: ['* * * * *', '@daily', '0 9 * * 1-5', '0 0 30 2 *'],
  timezone: ['Europe/Berlin', 'UTC', 'Mars/Phobos'],
  url: ['https://example.com/hooks', 'http://127.0.0.1:9/hooks', 'https://[::1]/', 'https://user:word@example.com'],
  metadata: ['{"team":7}', '{}', '[]'],
  branch: ['main', 'other'],
  from_branch: ['main', 'other'],
  tool: ['ask_user', 'lookup'],
  data: ['aGVsbG8=', 'aGVsbG8'],
  q: ['one', 'two words', '"five"'],
};

export type Values = (schema: Schema, name: string, manner: Manner) => Arbitrary<unknown>;

export function valuesOf(schemas: Readonly<Record<string, Schema>>): Values {
  const components = new Map<string, Arbitrary<unknown>>();

  function value(schema: Schema, name: string, manner: Manner, depth: number): Arbitrary<unknown> {
    const made = valid(schema, name, manner, depth);
    return manner === 'valid' || depth === 0 ? made : sometimes(made, fc.constantFrom(...HOSTILE_VALUES), RARELY);
  }

  function valid(schema: Schema, name: string, manner: Manner, depth: number): Arbitrary<unknown> {
    const either = schema.anyOf ?? schema.oneOf;
    if (schema.$ref !== undefined) return component(schema.$ref, manner, depth);
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
    if (either !== undefined) return fc.oneof(...either.map((one) => valid(one, name, manner, depth)));
    const types = [schema.type ?? 'any'].flat();
    return fc.oneof(...types.map((type) => ofType(type, schema, name, manner, depth)));
  }

  /** Made once for each depth: the document repeats its components. */
  function component($ref: string, manner: Manner, depth: number): Arbitrary<unknown> {
    const key = `${$ref} ${manner} ${depth}`;
    const name = $ref.replace('#/components/schemas/', '');
    const made = components.get(key) ?? valid(schemas[name] ?? {}, name, manner, depth);
    components.set(key, made);
    return made;
  }

  function ofType(type: string, schema: Schema, name: string, manner: Manner, depth: number): Arbitrary<unknown> {
    switch (type) {
      case 'object':
        return object(schema, manner, depth);
      case 'array':
        return array(schema, name, manner, depth);
      case 'integer':
        return name === 'wait_ms' ? fc.nat(LONGEST_WAIT_MS) : integer(schema);
      case 'number':
        return fc.oneof(integer(schema), fc.double({ ...bounds(schema), noNaN: true, noDefaultInfinity: true }));
      case 'boolean':
        return fc.boolean();
      case 'null':
        return fc.constant(null);
      case 'string':
        return text(schema, name);
      default:
        return fc.oneof(fc.constantFrom<unknown>('text', {}, [], 1, null), fc.constantFrom(...HOSTILE_VALUES));
    }
  }

  function object(schema: Schema, manner: Manner, depth: number): Arbitrary<unknown> {
    const { properties = {}, required = [], additionalProperties } = schema;
    const members = Object.entries(properties).flatMap(([name, one]): [string, Arbitrary<unknown>][] => {
      const isRequired = required.includes(name);
      if (!isRequired && depth >= DEEPEST) return [];
      const made = value(one, name, manner, depth + 1);
      if (!isRequired) return [[name, sometimes(fc.constant(undefined), made, depth < 2 ? 2 : 4)]];
      return [[name, manner === 'valid' ? made : sometimes(made, fc.constant(undefined), RARELY * 2)]];
    });
    const named = fc.record(Object.fromEntries(members));
    const more = additions(additionalProperties, manner, depth);
    return more === null ? named : fc.tuple(named, more).map(([one, other]) => withMembers(one, other));
  }

  /** Members that the schema does not name; null: there are none. */
  function additions(
    allowed: boolean | Schema | undefined,
    manner: Manner,
    depth: number,
  ): Arbitrary<readonly (readonly [string, unknown])[]> | null {
    const unknown = fc.constantFrom(...UNKNOWN_MEMBERS).map((one) => [one]);
    if (allowed === false) return manner === 'valid' ? null : sometimes(fc.constant([]), unknown, RARELY);
    if (typeof allowed === 'object' && depth < DEEPEST)
      return fc.array(fc.tuple(fc.constantFrom('a', 'team', 'x_1'), value(allowed, 'member', manner, depth + 1)), {
        maxLength: 2,
      });
    return sometimes(fc.constant([]), unknown, 3);
  }

  function array(schema: Schema, name: string, manner: Manner, depth: number): Arbitrary<unknown> {
    const { items = {}, minItems = 0, maxItems = Infinity, uniqueItems = false } = schema;
    const of = value(items, name, manner, depth + 1);
    const longest = depth >= DEEPEST ? minItems : Math.max(minItems, Math.min(maxItems, 3));
    const range = { minLength: minItems, maxLength: longest };
    const isUnique = uniqueItems && manner === 'valid';
    return isUnique ? fc.uniqueArray(of, { ...range, selector: (item) => JSON.stringify(item) }) : fc.array(of, range);
  }

  return (schema, name, manner) => value(schema, name, manner, 0);
}

/** Like the first, and one in `times` like the other. Shrinks to the first. */
export function sometimes<A, B>(usual: Arbitrary<A>, other: Arbitrary<B>, times: number): Arbitrary<A | B> {
  return fc.oneof({ withCrossShrink: true }, { weight: times - 1, arbitrary: usual }, { weight: 1, arbitrary: other });
}

/** A row that exists, of the kind that a member with this name has. */
export function reference(kind: string): Arbitrary<Reference> {
  const stray = sometimes(fc.constant(false), fc.constant(true), 8);
  return fc.tuple(fc.nat(5), stray).map(([at, isStray]) => new Reference(kind, at, isStray));
}

function integer(schema: Schema): Arbitrary<number> {
  const { min, max } = bounds(schema);
  const [low, high] = [Math.ceil(min), Math.floor(max)];
  return fc.oneof(fc.integer({ min: low, max: Math.min(high, low + 20) }), fc.constantFrom(low, high));
}

function bounds({ minimum, exclusiveMinimum, maximum = 2 ** 31 - 1 }: Schema): { min: number; max: number } {
  return { min: minimum ?? (exclusiveMinimum === undefined ? 0 : exclusiveMinimum + Number.EPSILON), max: maximum };
}

const INSTANTS = ['1970-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '0001-01-01T00:00:00Z', '2026-02-28T23:59:60Z'];

function text(schema: Schema, name: string): Arbitrary<unknown> {
  const { format, pattern, examples = [], minLength = 0, maxLength = 200 } = schema;
  if (format === 'uuid') return sometimes(reference(kindOf(name)), reference('any'), 10);
  if (format === 'date-time') return fc.oneof(fc.constantFrom(...INSTANTS), nearInstant);
  const usual = [...(USUAL[name] ?? []), ...examples.filter((one) => typeof one === 'string')];
  const fitting = pattern === undefined || pattern === PLAIN ? plain(minLength, maxLength) : matching(pattern);
  const known = NAMED.includes(kindOf(name)) ? [{ weight: 3, arbitrary: reference(kindOf(name)) }] : [];
  return fc.oneof(
    ...(usual.length === 0 ? [] : [{ weight: 3, arbitrary: fc.constantFrom(...usual) }]),
    ...known,
    { weight: 1, arbitrary: fitting },
    { weight: 1, arbitrary: fc.constant('x'.repeat(Math.min(maxLength, 2_000))) },
  );
}

/** Within a year of now, to the second. */
const nearInstant = fc
  .integer({ min: -31_536_000, max: 31_536_000 })
  .map((seconds) => new Date(Date.now() + seconds * 1_000).toISOString());

function plain(minLength: number, maxLength: number): Arbitrary<string> {
  return fc.string({ unit: 'grapheme', minLength, maxLength: Math.max(minLength, Math.min(maxLength, 20)) });
}

function matching(pattern: string): Arbitrary<string> {
  return fc.stringMatching(new RegExp(pattern), { size: 'xsmall' });
}

/** Text of a query, a header or a path in place of a valid one. */
export const hostileText = fc.constantFrom(...HOSTILE_TEXTS);

/** The places of a cursor's key that change, and to what. */
export const cursorChange = fc.array(fc.tuple(fc.nat(3), fc.constantFrom(...HOSTILE_KEYS)), {
  minLength: 1,
  maxLength: 3,
});

/** Defined, so that `__proto__` is a member like others. */
function withMembers(to: object, members: readonly (readonly [string, unknown])[]): object {
  const all: object = { ...to };
  for (const [name, member] of members)
    Object.defineProperty(all, name, { value: member, enumerable: true, configurable: true, writable: true });
  return all;
}
