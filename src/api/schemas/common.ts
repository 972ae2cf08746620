/**
 * Pieces that schemas share. A schema with an `$id` is a named component: it is registered once, documented under its
 * name, and used elsewhere by `ref`.
 */
import { Type } from 'typebox';
import type { Static, TSchema } from 'typebox';
import type { Json } from '../../core/json.ts';

const STRICT = { additionalProperties: false } as const;

/** Of a schema: the most bytes that a value may take as JSON. Checked as a keyword (see validation.ts). */
export const MAX_BYTES = 'x-max-bytes';

/** The most bytes of a config, and of metadata. */
export const SETTINGS_BYTES = 64 * 1024;

/** An object that takes no other members than these. */
export function strict<Properties extends Record<string, TSchema>>(
  properties: Properties,
  options: { $id?: string; description?: string; [MAX_BYTES]?: number } = {},
) {
  return Type.Object(properties, { ...options, ...STRICT });
}

/** Points to the component that `schema` names. */
export function ref<Schema extends TSchema & { $id?: string }>(schema: Schema) {
  return Type.Unsafe<Static<Schema>>({ $ref: `${schema.$id}#` });
}

export function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()]);
}

/** One of a list of words. */
export function oneOf<const Words extends readonly string[]>(words: Words, description?: string) {
  return Type.Unsafe<Words[number]>({
    type: 'string',
    enum: [...words],
    ...(description === undefined ? {} : { description }),
  });
}

/** Of a query: one of a list of words, or several with commas between them (`splitLists`). */
export function someOf<const Words extends readonly string[]>(words: Words, description: string) {
  return Type.Union([oneOf(words), Type.Array(oneOf(words), { minItems: 1, maxItems: words.length })], {
    description: `${description} Several are separated by commas.`,
  });
}

/** A union told apart by the member `type`. */
export function byType<Schemas extends (TSchema & { $id?: string })[]>(
  $id: string,
  schemas: readonly [...Schemas],
) {
  return Type.Unsafe<Static<Schemas[number]>>({
    $id,
    type: 'object',
    required: ['type'],
    discriminator: { propertyName: 'type' },
    oneOf: schemas.map((schema) => ref(schema)),
  });
}

export const Uuid = Type.String({ format: 'uuid' });

export const Instant = Type.String({ format: 'date-time', description: 'ISO 8601.' });

export const Count = Type.Integer({ minimum: 0 });

export const AnyJson = Type.Unsafe<Json>({});

export const JsonObject = Type.Unsafe<{ [key: string]: Json }>({ type: 'object' });

/** Of a client's own: it comes back as it was given. */
export const Metadata = Type.Unsafe<{ [key: string]: Json }>({ type: 'object', [MAX_BYTES]: SETTINGS_BYTES });

/** Text that is stored outside JSON, where neither NUL nor half a surrogate pair can be kept. */
export function plainText(maxLength: number, minLength = 0, description?: string) {
  const described = description === undefined ? {} : { description };
  return Type.String({
    minLength,
    maxLength,
    pattern: '^[^\\p{Cs}\\u0000]*$',
    examples: ['text'],
    ...described,
  });
}

export const Title = plainText(500);

export const Page = {
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 500, description: 'From `next_cursor`.' })),
};

/** Of lists that leave out what is archived. */
export const Archived = Type.Boolean({
  default: false,
  description: 'True: those that are archived, in place of those that are not.',
});

/** `{data, next_cursor}`: null at the end. */
export function listOf<Schema extends TSchema & { $id?: string }>($id: string, item: Schema) {
  return strict({ data: Type.Array(ref(item)), next_cursor: nullable(Type.String()) }, { $id });
}

export const Usage = strict(
  {
    input_tokens: Type.Integer({ minimum: 0, description: 'Without those that caches served.' }),
    output_tokens: Count,
    cache_read_tokens: Count,
    cache_write_tokens: Count,
    cache_hit_ratio: nullable(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description:
          'Of the tokens of prompts those that the provider read from its cache: cache_read / (input + cache_read + cache_write). Null: there were none.',
      }),
    ),
    cost: nullable(
      Type.String({
        description:
          'US dollars, decimal, at the prices of the moment of each call. A sum is of the calls whose price is known; null: of none.',
      }),
    ),
  },
  { $id: 'Usage' },
);

/** Of routes that write. */
export const WriteHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'The same key and body, the same answer; for a day.',
    }),
  ),
});

/** Of routes that write settings. */
export const VersionedHeaders = Type.Object({
  ...WriteHeaders.properties,
  'if-match': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_000,
      description: 'ETags, one of which must be the current one.',
    }),
  ),
});

/** No body. */
export const Empty = Type.Null({ description: 'Done.' });

/** An answer that carries the version of the settings in it. */
export function versioned<Schema extends TSchema & { $id?: string }>(schema: Schema) {
  return {
    description: 'With the version of its settings.',
    headers: { etag: Type.String({ description: 'For If-Match.' }) },
    content: { 'application/json': { schema: ref(schema) } },
  } as const;
}
