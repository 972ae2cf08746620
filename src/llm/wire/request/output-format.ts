/**
 * The schema of a structured answer in a request. Providers that have structured output get it as a parameter, if the
 * schema keeps their rules: a request with another one would be refused. Otherwise the prompt tells it.
 */
import { isJsonObject, type Json, type JsonObject } from '../../../core/json.ts';
import type { ModelRequest } from '../../../core/model/model.ts';

/** The name that OpenAI's formats require. */
export const FORMAT_NAME = 'answer';

/** What a provider accepts in a schema that the answer is guaranteed to match. */
type Rules = {
  keywords: ReadonlySet<string>;
  formats: ReadonlySet<string>;
  /** Every property must be required. */
  isEachRequired: boolean;
  mayRecur: boolean;
  /** Whether the schema itself may be an `anyOf`. */
  mayBeUnion: boolean;
  mostOptional: number;
  mostUnions: number;
  deepest: number;
};

const KEYWORDS = [
  '$ref',
  'additionalProperties',
  'anyOf',
  'const',
  'description',
  'enum',
  'format',
  'items',
  'properties',
  'required',
  'title',
  'type',
];
const FORMATS = ['date', 'date-time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'time', 'uuid'];

/** Of the whole schema only. `$schema` is not sent. */
const ROOT_KEYWORDS: ReadonlySet<string> = new Set(['$schema', '$defs', 'definitions']);

/** What may stand beside `$ref` or `anyOf`. */
const TEXTS: ReadonlySet<string> = new Set(['description', 'title']);

/** https://platform.openai.com/docs/guides/structured-outputs#supported-schemas */
export const OPENAI_RULES: Rules = {
  keywords: new Set([
    ...KEYWORDS,
    'exclusiveMaximum',
    'exclusiveMinimum',
    'maximum',
    'maxItems',
    'minimum',
    'minItems',
    'multipleOf',
  ]),
  formats: new Set(FORMATS),
  isEachRequired: true,
  mayRecur: true,
  mayBeUnion: false,
  mostOptional: 0,
  mostUnions: Infinity,
  deepest: 10,
};

/** https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations */
export const ANTHROPIC_RULES: Rules = {
  keywords: new Set(KEYWORDS),
  formats: new Set([...FORMATS, 'uri']),
  isEachRequired: false,
  mayRecur: false,
  mayBeUnion: true,
  mostOptional: 24,
  mostUnions: 16,
  deepest: Infinity,
};

/** Whether the provider can guarantee that an answer matches the schema. */
export function keeps(rules: Rules, schema: JsonObject): boolean {
  const walk = new Walk(rules, schema);
  return walk.keepsAll() && walk.optional <= rules.mostOptional && walk.unions <= rules.mostUnions;
}

/** References may lead to the same places again and again. */
const MOST_VISITS = 2_000;

class Walk {
  optional = 0;
  unions = 0;
  #visits = 0;
  readonly #reached = new Set<string>();
  readonly #rules: Rules;
  readonly #root: JsonObject;

  constructor(rules: Rules, root: JsonObject) {
    this.#rules = rules;
    this.#root = root;
  }

  /** The schema, and the definitions that it does not use: providers check them too. */
  keepsAll(): boolean {
    if (this.#root['anyOf'] !== undefined && !this.#rules.mayBeUnion) return false;
    return this.#keeps(this.#root, 0, []) && ['$defs', 'definitions'].every((list) => this.#areKept(list));
  }

  #areKept(list: string): boolean {
    const definitions = this.#root[list] ?? {};
    if (!isJsonObject(definitions)) return false;
    return Object.entries(definitions).every(([name, definition]) => {
      const ref = `#/${list}/${name}`;
      return this.#reached.has(ref) || this.#keeps(definition, 0, [ref]);
    });
  }

  /** `refs`: the references that lead here. */
  #keeps(schema: Json | undefined, depth: number, refs: readonly string[]): boolean {
    this.#visits += 1;
    if (!isJsonObject(schema) || depth > this.#rules.deepest || this.#visits > MOST_VISITS) return false;
    const names = Object.keys(schema).filter((name) => schema !== this.#root || !ROOT_KEYWORDS.has(name));
    if (names.some((name) => !this.#rules.keywords.has(name))) return false;
    const { type, anyOf, $ref, format, items } = schema;
    if (!hasPlainValues(schema)) return false;
    if (format !== undefined && !(typeof format === 'string' && this.#rules.formats.has(format))) return false;
    if ($ref !== undefined) return isAlone('$ref', names) && this.#refers($ref, depth, refs);
    if (anyOf !== undefined) {
      this.unions += 1;
      return isAlone('anyOf', names) && Array.isArray(anyOf) && anyOf.every((one) => this.#keeps(one, depth, refs));
    }
    if (type === undefined) return false;
    if (Array.isArray(type)) this.unions += 1;
    return this.#isClosed(schema, depth, refs) && (!isOf(type, 'array') || this.#keeps(items, depth + 1, refs));
  }

  #isClosed(schema: JsonObject, depth: number, refs: readonly string[]): boolean {
    const { type, properties = {}, required = [], additionalProperties } = schema;
    if (!isOf(type, 'object')) return true;
    if (additionalProperties !== false || !isJsonObject(properties) || !Array.isArray(required)) return false;
    const optional = Object.keys(properties).filter((name) => !required.includes(name)).length;
    this.optional += optional;
    if (optional > 0 && this.#rules.isEachRequired) return false;
    return Object.values(properties).every((property) => this.#keeps(property, depth + 1, refs));
  }

  #refers(ref: Json, depth: number, refs: readonly string[]): boolean {
    if (typeof ref !== 'string') return false;
    this.#reached.add(ref);
    if (refs.includes(ref)) return this.#rules.mayRecur;
    return this.#keeps(this.#resolve(ref), depth, [...refs, ref]);
  }

  #resolve(ref: string): Json | undefined {
    if (ref === '#') return this.#root;
    const [, list, name] = /^#\/(\$defs|definitions)\/([^/~%]+)$/.exec(ref) ?? [];
    const definitions = list === undefined ? undefined : this.#root[list];
    return name !== undefined && isJsonObject(definitions) ? definitions[name] : undefined;
  }
}

function isAlone(keyword: string, names: readonly string[]): boolean {
  return names.every((name) => name === keyword || TEXTS.has(name));
}

function hasPlainValues({ enum: choices = [], const: constant = null }: JsonObject): boolean {
  return Array.isArray(choices) && [...choices, constant].every((value) => value === null || typeof value !== 'object');
}

function isOf(type: Json | undefined, name: string): boolean {
  return type === name || (Array.isArray(type) && type.includes(name));
}

export function isOfObject({ type }: JsonObject): boolean {
  return type === 'object';
}

/** Tells the schema at the end of what every prompt begins with. */
export function instructed(request: ModelRequest): ModelRequest {
  const { outputSchema, pinned } = request;
  if (outputSchema === null) return request;
  const text = `Your final answer must be JSON, without any other text, that matches this JSON Schema:\n${JSON.stringify(outputSchema)}`;
  return { ...request, pinned: pinned === '' ? text : `${pinned}\n\n${text}` };
}
