/** Reads a JSON Schema for people: its fields with types, limits and texts. What it does not read, the raw schema shows. */
import type { Json } from 'nightshift/client';
import { toolCatalogueWords } from '../../../words.ts';

export type Field = {
  name: string;
  /** `string`, `string | null`, `array of string`; null: any. */
  type: string | null;
  isRequired: boolean;
  description: string | null;
  /** Values that are allowed, as JSON. */
  allowed: string[];
  /** As JSON; null: none. */
  default: string | null;
  limits: { key: string; value: string }[];
  fields: Field[];
};

/** Deeper fields are only in the raw schema, and so are more than this at one level. */
const DEEPEST = 5;
export const MOST_FIELDS = 60;

const LIMITS = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'format',
  'minItems',
  'maxItems',
  'uniqueItems',
];

type JsonObject = { [key: string]: Json };

export function fieldsOf(schema: JsonObject, depth = 0): Field[] {
  if (depth >= DEEPEST) return [];
  const properties = objectOf(schema['properties']) ?? {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(properties)
    .slice(0, MOST_FIELDS)
    .map(([name, value]) => fieldOf(name, objectOf(value) ?? {}, required.includes(name), depth));
}

function fieldOf(name: string, schema: JsonObject, isRequired: boolean, depth: number): Field {
  const items = objectOf(schema['items']);
  const { description, default: usual, enum: values, const: only } = schema;
  const allowed = Array.isArray(values) ? values : only === undefined ? [] : [only];
  return {
    name,
    type: typeOf(schema),
    isRequired,
    description: typeof description === 'string' ? description : null,
    allowed: allowed.map((value) => JSON.stringify(value)),
    default: usual === undefined ? null : JSON.stringify(usual),
    limits: LIMITS.flatMap((key) => {
      const value = schema[key];
      return value === undefined ? [] : [{ key, value: typeof value === 'string' ? value : JSON.stringify(value) }];
    }),
    fields: fieldsOf(items ?? schema, depth + 1),
  };
}

function typeOf(schema: JsonObject): string | null {
  const { type, items, anyOf, oneOf } = schema;
  const choices = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : null;
  if (type === undefined && choices !== null) {
    const types = choices.flatMap((one) => typeOf(objectOf(one) ?? {}) ?? []);
    return types.length === 0 ? null : [...new Set(types)].join(' | ');
  }
  if (Array.isArray(type)) return type.filter((one) => typeof one === 'string').join(' | ');
  if (type === 'array') {
    const inner = typeOf(objectOf(items) ?? {});
    return inner === null ? type : toolCatalogueWords.tool.arrayOf(inner);
  }
  return typeof type === 'string' ? type : null;
}

function objectOf(value: Json | undefined): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
}
