// Random requests made from the OpenAPI document: mostly valid ones, with hostile values in between (numbers that no
// integer can hold, text that no database can, tampered cursors, ids of other rows).
import type { Random } from '../../chaos/random.ts';
import type { Body } from '../harness.ts';

export type FuzzedRequest = {
  method: string;
  /** Path and query. */
  url: string;
  headers: Record<string, string>;
  body: string | undefined;
  isStream: boolean;
};

type Schema = {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  minItems?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  pattern?: string;
  format?: string;
};
type Parameter = { name: string; in: string; required?: boolean; schema: Schema };
type Described = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};
type Operation = {
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, unknown> }>;
};

/** The probability of a value that its schema does not allow. */
const HOSTILE = 0.12;
/** No request waits for longer than this, in milliseconds. */
const LONGEST_WAIT_MS = 20;

const NUMBERS = [
  'Infinity',
  '-Infinity',
  'NaN',
  '1e400',
  '1e22',
  '0x10',
  '-1',
  '0',
  '',
  ' 5',
  '1.5',
  '2147483648',
  '9007199254740993',
  '99999999999999999999',
];
/** Names of properties that every plain object has. */
export const PROTOTYPE_NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
const TEXTS = [
  ...PROTOTYPE_NAMES,
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  "' or 1=1 --",
  '%',
  '_',
  '\\',
  '../../etc/passwd',
  '..\\..',
  'é'.repeat(300),
  'x'.repeat(5_000),
  '\u202e',
  '{}',
  '[]',
  'null',
  '&|!():*',
  '"',
  '🦊',
];
const VALUES: unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e300,
  Number.MAX_SAFE_INTEGER,
  '',
  '\0',
  '\ud800',
  [],
  {},
  [[]],
  [null],
  { '': '' },
  ...PROTOTYPE_NAMES,
  JSON.parse('{"__proto__": {"a": 1}, "constructor": 1}'),
  'x'.repeat(3_000),
];
const KEYS: unknown[] = [
  ...PROTOTYPE_NAMES,
  null,
  -1,
  0,
  1,
  1.5,
  1e300,
  2 ** 31,
  2 ** 53,
  -(2 ** 53),
  8.64e15,
  9e15,
  '',
  '\0',
  '\ud800',
  'main',
  'infinity',
  [],
  {},
  [1, 2, 3],
];

const EXTRA: [string, unknown][] = [
  ['extra', 1],
  ...PROTOTYPE_NAMES.flatMap((name): [string, unknown][] => [
    [name, 1],
    ['$schema', name],
    ['$ref', name],
    ['enum', [name]],
  ]),
];

export class Fuzzer {
  readonly #document: Described;
  readonly #random: Random;
  /** Ids, names and cursors from answers: existing ones. */
  readonly #seen = new Map<string, string[]>();

  constructor(document: object, random: Random) {
    this.#document = document as Described;
    this.#random = random;
  }

  /** Keeps the ids and names of an answer, so that later requests use existing ones. */
  learn(answer: Body): void {
    if (Array.isArray(answer)) for (const item of answer) this.learn(item);
    else if (typeof answer === 'object' && answer !== null) {
      for (const [name, value] of Object.entries(answer)) {
        if (typeof value === 'string' && /(^|_)(id|cursor|name)$/.test(name)) this.#keep(kindOf(name), value);
        else this.learn(value);
      }
    }
  }

  #keep(kind: string, value: string): void {
    const known = this.#seen.get(kind) ?? [];
    if (known.length > 50) known.splice(this.#random.between(0, 50), 1);
    known.push(value);
    this.#seen.set(kind, known);
  }

  next(): FuzzedRequest {
    const paths = Object.keys(this.#document.paths);
    const path = this.#random.pick(paths);
    const methods = Object.entries(this.#document.paths[path] ?? {});
    const [method, operation] = this.#random.pick(methods);
    const { parameters = [], requestBody, responses } = operation;
    const body = requestBody?.content['application/json'];
    return {
      method: method.toUpperCase(),
      url: this.#path(path, parameters) + this.#query(parameters),
      headers: this.#headers(parameters),
      body: body === undefined ? undefined : this.#body(body.schema),
      isStream: 'text/event-stream' in (responses['200']?.content ?? {}),
    };
  }

  #path(path: string, parameters: Parameter[]): string {
    return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const { schema = {} } = parameters.find((one) => one.in === 'path' && one.name === name) ?? {};
      if (this.#random.chance(HOSTILE)) return encodeText(this.#random.pick(TEXTS)) || '%00';
      const kind = name === 'id' ? (path.split('/')[2] ?? '').replace(/s$/, '') : kindOf(name);
      return encodeText(this.#known(kind) ?? String(this.#value(schema, 0)));
    });
  }

  #query(parameters: Parameter[]): string {
    const given = parameters.filter(
      (one) => one.in === 'query' && (one.required === true || this.#random.chance(0.35)),
    );
    const pairs = given.map(({ name, schema }) => `${name}=${encodeText(this.#parameter(name, schema))}`);
    if (this.#random.chance(HOSTILE / 4))
      pairs.push(this.#random.pick(['x=1', '%zz', '__proto__=1', 'limit=1&limit=2']));
    return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
  }

  #parameter(name: string, schema: Schema): string {
    if (name === 'wait_ms') return String(this.#random.between(0, LONGEST_WAIT_MS));
    if (name === 'cursor') return this.#cursor();
    const type = schema.type;
    if (this.#random.chance(HOSTILE)) return this.#random.pick(type === 'integer' ? NUMBERS : TEXTS);
    const known = this.#known(kindOf(name));
    if (known !== undefined && this.#random.chance(0.7)) return known;
    const value = this.#value(schema, 0);
    return typeof value === 'string' ? value : JSON.stringify(value);
  }

  /** A cursor from an answer, one of another list, a tampered one, or none. */
  #cursor(): string {
    const known = this.#known('cursor');
    const key: unknown = known === undefined ? ['main', 1] : JSON.parse(Buffer.from(known, 'base64url').toString());
    if (known !== undefined && this.#random.chance(0.3)) return known;
    if (this.#random.chance(0.1)) return this.#random.pick(TEXTS);
    const members = Array.isArray(key) ? [...key] : [];
    for (let left = this.#random.between(0, 2); left >= 0; left -= 1) {
      members[this.#random.between(0, Math.max(0, members.length - 1))] = this.#random.pick(KEYS);
    }
    if (this.#random.chance(0.2)) members.push(this.#random.pick(KEYS));
    if (this.#random.chance(0.2)) members.pop();
    return Buffer.from(JSON.stringify(members)).toString('base64url');
  }

  #headers(parameters: Parameter[]): Record<string, string> {
    const given = parameters.filter((one) => one.in === 'header' && this.#random.chance(0.15));
    return Object.fromEntries(
      given.map(({ name, schema }) => [
        name,
        // Text that HTTP itself does not carry never reaches the platform.
        this.#parameter(name, schema)
          .replaceAll(/[^\x20-\x7e]/g, '?')
          .trim() || 'x',
      ]),
    );
  }

  #body(schema: Schema): string {
    if (this.#random.chance(HOSTILE / 4))
      return this.#random.pick(['', '{', 'null', '[]', '"x"', '5', '{"a":1e999}', '['.repeat(500)]);
    return JSON.stringify(this.#value(schema, 0)) ?? 'null';
  }

  #value(given: Schema, depth: number): unknown {
    const schema = this.#resolve(given);
    if (depth > 0 && this.#random.chance(HOSTILE / 3)) return this.#random.pick(VALUES);
    if (schema.const !== undefined) return schema.const;
    if (schema.enum !== undefined) return this.#random.pick(schema.enum);
    const either = schema.anyOf ?? schema.oneOf;
    if (either !== undefined) return this.#value(this.#random.pick(either), depth);
    const type = Array.isArray(schema.type) ? this.#random.pick(schema.type) : schema.type;
    switch (type ?? 'any') {
      case 'object':
        return this.#object(schema, depth);
      case 'array': {
        const length = depth > 4 ? (schema.minItems ?? 0) : this.#random.between(schema.minItems ?? 0, 2);
        return Array.from({ length }, () => this.#value(schema.items ?? {}, depth + 1));
      }
      case 'integer':
      case 'number':
        return this.#number(schema);
      case 'boolean':
        return this.#random.chance(0.5);
      case 'null':
        return null;
      case 'string':
        return this.#text(schema);
      default:
        return this.#random.pick(VALUES);
    }
  }

  #object({ properties = {}, required = [], additionalProperties }: Schema, depth: number): object {
    const members = Object.entries(properties).filter(
      ([name]) => required.includes(name) || this.#random.chance(depth > 3 ? 0.05 : 0.25),
    );
    const entries = members.map(([name, schema]): [string, unknown] => {
      if (name === 'wait_ms') return [name, this.#random.between(0, LONGEST_WAIT_MS)];
      const known = name.endsWith('_id') && this.#random.chance(0.6) ? this.#known(kindOf(name)) : undefined;
      return [name, known ?? this.#value(schema, depth + 1)];
    });
    // Where a schema lets any member through, clients name them: more often there.
    const extra = this.#random.chance(additionalProperties === true ? 0.5 : HOSTILE / 4);
    return Object.fromEntries(extra ? [...entries, this.#random.pick(EXTRA)] : entries);
  }

  #number({ minimum = 0, maximum = 2 ** 31 - 1 }: Schema): number {
    return this.#random.pick([minimum, maximum, this.#random.between(minimum, Math.min(maximum, minimum + 20))]);
  }

  #text({ format, minLength = 0 }: Schema): string {
    switch (format ?? 'plain') {
      case 'uuid':
        return this.#known('any') ?? '01890000-0000-7000-8000-000000000000';
      case 'date-time':
        return this.#random.pick([
          '2026-01-01T00:00:00Z',
          '1970-01-01T00:00:00Z',
          '9999-12-31T23:59:59Z',
          '0001-01-01T00:00:00Z',
          '2026-02-28T23:59:60Z',
        ]);
      default:
        return this.#random.pick([
          'say: hello',
          'main',
          'a1',
          'simulated/default',
          'order',
          'x'.repeat(Math.max(1, minLength)),
        ]);
    }
  }

  #known(kind: string): string | undefined {
    const known = this.#seen.get(kind === 'any' ? this.#random.pick([...this.#seen.keys(), kind]) : kind);
    return known === undefined || known.length === 0 ? undefined : this.#random.pick(known);
  }

  #resolve(schema: Schema): Schema {
    if (schema.$ref === undefined) return schema;
    return this.#resolve(this.#document.components.schemas[schema.$ref.replace('#/components/schemas/', '')] ?? {});
  }
}

/** `worker_id` and `parent_worker_id` name the same kind of row. */
function kindOf(name: string): string {
  return name.split('_').slice(-2, -1)[0] ?? name;
}

/** Half a surrogate pair has no encoding: a client sends its replacement character. */
function encodeText(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
