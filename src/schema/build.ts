/**
 * Builds schemas. A schema with an `$id` is a named component: it is registered once, documented under its name, and
 * referenced by `ref`.
 */
import { Type, type Static, type TProperties, type TSchema } from 'typebox';
import { PLAIN_TEXT } from './patterns.ts';

/** Schema keyword: the largest size of a value as JSON, in bytes. */
export const MAX_BYTES = 'x-max-bytes';

/** Schema keyword of the config file: the value is a function. */
export const FUNCTION = 'x-function';

/** The largest size of a config or of metadata, in bytes of JSON. */
export const SETTINGS_BYTES = 64 * 1024;

type Options = { $id?: string; description?: string; [MAX_BYTES]?: number };

/** An object without additional members. */
export function strict<Properties extends Record<string, TSchema>>(properties: Properties, options: Options = {}) {
  return Type.Object(properties, { ...options, additionalProperties: false });
}

/** The same, and every member may be missing. */
export function partial<Properties extends TProperties>(properties: Properties, options: Options = {}) {
  return Type.Partial(Type.Object(properties), { ...options, additionalProperties: false });
}

/** References the component `schema`. */
export function ref<Schema extends TSchema & { $id?: string }>(schema: Schema) {
  return Type.Unsafe<Static<Schema>>({ $ref: `${schema.$id}#` });
}

export function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()]);
}

/** A string enum. */
export function oneOf<const Values extends readonly string[]>(values: Values, description?: string) {
  return Type.Unsafe<Values[number]>({
    type: 'string',
    enum: [...values],
    ...(description === undefined ? {} : { description }),
  });
}

export function integer(minimum: number, maximum: number, description?: string) {
  return Type.Integer({ minimum, maximum, ...(description === undefined ? {} : { description }) });
}

export function plainText(maxLength: number, minLength = 0, description?: string) {
  const described = description === undefined ? {} : { description };
  return Type.String({ minLength, maxLength, pattern: PLAIN_TEXT, examples: ['text'], ...described });
}
