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
  mostOptional: number;
  mostUnions: number;
  deepest: number;
};

const KEYWORDS = [
  '$defs',
  '$ref',
  'additionalProperties',
  'anyOf',
  'const',
  'definitions',
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
  mostOptional: 24,
  mostUnions: 16,
  deepest: Infinity,
};

/** Whether the provider can guarantee that an answer matches the schema. */
export function keeps(rules: Rules, schema: JsonObject): boolean {
  const walk = new Walk(rules, schema);
  return walk.keeps(schema, 0, []) && walk.optional <= rules.mostOptional && walk.unions <= rules.mostUnions;
}

/** References may lead to the same places again and again. */
const MOST_VISITS = 2_000;

class Walk {
  optional = 0;
  unions = 0;
  #visits = 0;
  readonly #rules: Rules;
  readonly #root: JsonObject;

  constructor(rules: Rules, root: JsonObject) {
    this.#rules = rules;
    this.#root = root;
  }

  /** `refs`: the references that lead here. */
  keeps(schema: Json | undefined, depth: number, refs: readonly string[]): boolean {
    this.#visits += 1;
    if (!isJsonObject(schema) || depth > this.#rules.deepest || this.#visits > MOST_VISITS) return false;
    if (Object.keys(schema).some((name) => name !== '$schema' && !this.#rules.keywords.has(name))) return false;
    const { type, anyOf, $ref, format, items } = schema;
    if (format !== undefined && !(typeof format === 'string' && this.#rules.formats.has(format))) return false;
    if ($ref !== undefined) return this.#refers($ref, depth, refs);
    if (Array.isArray(anyOf)) {
      this.unions += 1;
      return anyOf.every((one) => this.keeps(one, depth, refs));
    }
    if (type === undefined) return false;
    if (Array.isArray(type)) this.unions += 1;
    return this.#isClosed(schema, depth, refs) && (!isOf(type, 'array') || this.keeps(items, depth + 1, refs));
  }

  #isClosed(schema: JsonObject, depth: number, refs: readonly string[]): boolean {
    const { type, properties = {}, required = [], additionalProperties } = schema;
    if (!isOf(type, 'object')) return true;
    if (additionalProperties !== false || !isJsonObject(properties) || !Array.isArray(required)) return false;
    const optional = Object.keys(properties).filter((name) => !required.includes(name)).length;
    this.optional += optional;
    if (optional > 0 && this.#rules.isEachRequired) return false;
    return Object.values(properties).every((property) => this.keeps(property, depth + 1, refs));
  }

  #refers(ref: Json, depth: number, refs: readonly string[]): boolean {
    if (typeof ref !== 'string') return false;
    if (refs.includes(ref)) return this.#rules.mayRecur;
    return this.keeps(this.#resolve(ref), depth, [...refs, ref]);
  }

  #resolve(ref: string): Json | undefined {
    if (ref === '#') return this.#root;
    const [, list, name] = /^#\/(\$defs|definitions)\/([^/~%]+)$/.exec(ref) ?? [];
    const definitions = list === undefined ? undefined : this.#root[list];
    return name !== undefined && isJsonObject(definitions) ? definitions[name] : undefined;
  }
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
